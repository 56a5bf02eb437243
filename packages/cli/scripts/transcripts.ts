/**
 * Makes the table of transcripts in `docs/formats.md` again, where there are transcripts beside the checkout.
 */
import * as fs from "node:fs"
import { Effect } from "effect"
import { hasTranscripts, page, table, withTable } from "./transcriptTable.js"

if (hasTranscripts) {
  fs.writeFileSync(page, withTable(fs.readFileSync(page, "utf8"), Effect.runSync(table)))
  process.stdout.write(`${page} is up to date\n`)
} else {
  process.stdout.write("There is no folder ../shared/data beside the checkout, so the table stays as it is.\n")
}
