/**
 * What tool definitions cost. OpenAI writes them out as a declaration of functions: each name, description, parameter and
 * choice is text with a frame.
 *
 * @internal
 */
import * as Inspectable from "effect/Inspectable"
import * as Predicate from "effect/Predicate"
import type { Figures } from "../Model.js"
import type { ToolDefinition } from "../TiktokenCounter.js"

/** Schemas of a tool that are looked into. Those that are shared again and again would be without end. */
const MAX_SCHEMAS = 1_000

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

const parametersOf = (figures: Figures, whole: unknown): Cost => {
  let left = MAX_SCHEMAS
  // What refers to itself cannot be sent as it is: it is looked into once.
  const parameters = (schema: unknown, within: ReadonlyArray<unknown>): Cost => {
    if (!Predicate.isRecord(schema) || within.includes(schema) || left-- <= 0) return none
    const fields = Predicate.isRecord(schema["properties"]) ? Object.entries(schema["properties"]) : []
    const around = [...within, schema]
    const inside = parameters(schema["items"], around)
    if (fields.length === 0) return inside
    return sum([
      { texts: [], frame: figures.parameters },
      inside,
      ...fields.flatMap(([name, field]) => [parameter(figures, name, field), parameters(field, around)])
    ])
  }
  return parameters(whole, [])
}

const parameter = (figures: Figures, name: string, schema: unknown): Cost => {
  const choices = Predicate.hasProperty(schema, "enum") && Array.isArray(schema.enum)
    ? schema.enum.map((choice) => Inspectable.toStringUnknown(choice, 0))
    : []
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
        parametersOf(figures, tool.parameters)
      ])
    ])
