import * as fs from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { hasTranscripts, page, table, transcripts, withTable } from "../scripts/transcriptTable.js"
import * as data from "./data.js"

describe("the table of transcripts", () => {
  it("is put in the place of the one that was there", () => {
    const text = "a\n<!-- transcripts -->\nold\nold\n<!-- /transcripts -->\nb"
    assert.strictEqual(withTable(text, "$1"), "a\n<!-- transcripts -->\n$1\n<!-- /transcripts -->\nb")
  })

  describe.skipIf(!hasTranscripts)("of those at hand", () => {
    it.live("is up to date", () =>
      Effect.map(table, (table) => {
        const text = fs.readFileSync(page, "utf8")
        assert.strictEqual(withTable(text, table), text)
      }))

    it.effect("names every file that is there", () =>
      Effect.map(transcripts, (files) => assert.deepStrictEqual(files, data.transcripts.toSorted())))
  })
})
