/**
 * The program, without the layers of what its agents share.
 */
import { supervise } from "./supervisor.js"
import { team } from "./team.js"

export const program = supervise(team, "2500 millis")
