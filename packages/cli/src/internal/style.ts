/**
 * Colours. Where there are none, the text stands as it is.
 */

type Paint = (text: string) => string

/** @internal */
export interface Style {
  readonly bold: Paint
  readonly dim: Paint
  readonly good: Paint
  readonly warn: Paint
  readonly bad: Paint
}

const keep: Paint = (text) => text

/** @internal */
export const plain: Style = { bold: keep, dim: keep, good: keep, warn: keep, bad: keep }

const paint = (open: number, close: number): Paint => (text) => `\u001b[${open}m${text}\u001b[${close}m`

/** @internal */
export const coloured: Style = {
  bold: paint(1, 22),
  dim: paint(2, 22),
  good: paint(32, 39),
  warn: paint(33, 39),
  bad: paint(31, 39)
}

// eslint-disable-next-line no-control-regex
const sequences = /\u001b\[[0-9;?]*[ -/]*[@-~]/g

/** @internal */
export const strip: Paint = (text) => text.replace(sequences, "")
