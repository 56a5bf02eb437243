/**
 * What tool definitions cost. OpenAI writes them out as a declaration of functions: each name, description, parameter and
 * choice is text with a frame.
 *
 * @internal
 */
import * as Predicate from "effect/Predicate"
import type { Figures } from "../Model.js"
import type { ToolDefinition } from "../TiktokenCounter.js"

/** Schemas nested deeper than this are not looked into. */
const MAX_DEPTH = 16

/** Texts to count, and what their frame costs. */
export interface Cost {
  readonly texts: ReadonlyArray<string>
  readonly frame: number
}

const none: Cost = { texts: [], frame: 0 }

const sum = (costs: ReadonlyArray<Cost>): Cost => ({
  texts: costs.flatMap((cost) => cost.texts),
  frame: costs.reduce((total, cost) => total + cost.frame, 0)
})

const stringField = (value: unknown, field: string): string =>
  Predicate.hasProperty(value, field) && typeof value[field] === "string" ? value[field].replace(/\.$/, "") : ""

const parameters = (figures: Figures, schema: unknown, depth: number): Cost => {
  if (depth > MAX_DEPTH || !Predicate.isRecord(schema)) return none
  const fields = Predicate.isRecord(schema["properties"]) ? Object.entries(schema["properties"]) : []
  const inside = parameters(figures, schema["items"], depth + 1)
  if (fields.length === 0) return inside
  return sum([
    { texts: [], frame: figures.parameters },
    inside,
    ...fields.flatMap(([name, field]) => [
      parameter(figures, name, field),
      parameters(figures, field, depth + 1)
    ])
  ])
}

const parameter = (figures: Figures, name: string, schema: unknown): Cost => {
  const choices = Predicate.hasProperty(schema, "enum") && Array.isArray(schema.enum) ? schema.enum.map(String) : []
  return {
    texts: [`${name}:${stringField(schema, "type")}:${stringField(schema, "description")}`, ...choices],
    // The frame of the first choice is in that of the parameter.
    frame: figures.parameter + figures.choice * Math.max(0, choices.length - 1)
  }
}

export const costOfTools = (figures: Figures, tools: ReadonlyArray<ToolDefinition>): Cost =>
  tools.length === 0
    ? none
    : sum([
      { texts: [], frame: figures.tools },
      ...tools.flatMap((tool) => [
        { texts: [`${tool.name}:${stringField(tool, "description")}`], frame: figures.tool },
        parameters(figures, tool.parameters, 0)
      ])
    ])
