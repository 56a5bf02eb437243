var __defProp = Object.defineProperty;
var __export = (target, all2) => {
  for (var name in all2)
    __defProp(target, name, { get: all2[name], enumerable: true });
};

// benchmark/turn.ts
import { Effect as Effect21, ManagedRuntime } from "effect";

// src/Budget.ts
import * as Effect from "effect/Effect";

// src/MemoryError.ts
import * as Schema from "effect/Schema";
var InvalidBudget = class extends Schema.TaggedError("effect-memory/MemoryError/InvalidBudget")(
  "InvalidBudget",
  {
    /** Which limit or option, such as `maxTokens`. */
    field: Schema.String,
    /** What was given, as text. */
    given: Schema.String,
    /** What should be given instead. By default a whole number. */
    expected: Schema.optional(Schema.String)
  }
) {
  /**
   * @since 0.1.0
   */
  get message() {
    const { expected: expected2 = "a finite whole number of at least 0, or leave it out for no limit", field, given } = this;
    return `${field} is ${given}: give ${expected2}`;
  }
};
var InvalidMessage = class extends Schema.TaggedError("effect-memory/MemoryError/InvalidMessage")(
  "InvalidMessage",
  {
    /** Path of the field at fault, such as `content.0.text`. */
    field: Schema.String,
    /** What stands there, described without its content. */
    given: Schema.String,
    /** What should stand there. */
    expected: Schema.String
  }
) {
  /**
   * @since 0.1.0
   */
  get message() {
    return `${this.field} is ${this.given}: expected ${this.expected}`;
  }
};
var TokenCountError = class extends Schema.TaggedError("effect-memory/MemoryError/TokenCountError")(
  "TokenCountError",
  {
    /** Id of the counter. */
    counter: Schema.String,
    /** What went wrong and what to do. */
    reason: Schema.String,
    cause: Schema.optional(Schema.Defect)
  }
) {
  /**
   * @since 0.1.0
   */
  get message() {
    return `Counter "${this.counter}" could not count: ${this.reason}`;
  }
};
var SummarizeError = class extends Schema.TaggedError("effect-memory/MemoryError/SummarizeError")(
  "SummarizeError",
  {
    /**
     * `empty`: no text came back. `truncated`: the reply was cut. `refused`: the model declined. `grew`: the summary is
     * no shorter than what it stands for. `timeout`: no reply in time. `overflow`: the input is larger than the
     * summarizer's window. `provider`: the service failed.
     */
    reason: Schema.Literal("empty", "truncated", "refused", "grew", "timeout", "overflow", "provider"),
    /** What was seen and what to do. */
    detail: Schema.String,
    cause: Schema.optional(Schema.Defect)
  }
) {
  /**
   * @since 0.1.0
   */
  get message() {
    return `No usable summary (${this.reason}): ${this.detail}`;
  }
};
var TrimError = class extends Schema.TaggedError("effect-memory/MemoryError/TrimError")("TrimError", {
  /** What went wrong and what to do. */
  reason: Schema.String,
  cause: Schema.optional(Schema.Defect)
}) {
  /**
   * @since 0.1.0
   */
  get message() {
    return `The strategy could not trim: ${this.reason}`;
  }
};
var MemoryStoreError = class extends Schema.TaggedError("effect-memory/MemoryError/MemoryStoreError")("MemoryStoreError", {
  /**
   * `conflict`: another writer was first, load and try again. `corrupt`: a record cannot be read. `unavailable`: the
   * storage did not answer.
   */
  reason: Schema.Literal("conflict", "corrupt", "unavailable"),
  /** The operation that failed, such as `append`. */
  operation: Schema.String,
  /** Id of the conversation. */
  conversation: Schema.String,
  /** What was found and what to do. */
  detail: Schema.String,
  cause: Schema.optional(Schema.Defect)
}) {
  /**
   * @since 0.1.0
   */
  get message() {
    return `${this.operation} of conversation "${this.conversation}" failed (${this.reason}): ${this.detail}`;
  }
};
var BudgetUnsatisfiable = class extends Schema.TaggedError("effect-memory/MemoryError/BudgetUnsatisfiable")(
  "BudgetUnsatisfiable",
  {
    /** The budget, in tokens. */
    budget: Schema.Number,
    /** What cannot be trimmed, in tokens. */
    floor: Schema.Struct({
      overhead: Schema.Number,
      system: Schema.Number,
      protected: Schema.Number,
      summary: Schema.Number,
      newest: Schema.Number,
      total: Schema.Number
    })
  }
) {
  /**
   * @since 0.1.0
   */
  get message() {
    const { newest, overhead, protected: pinned, summary, system: system2, total } = this.floor;
    return `A budget of ${this.budget} tokens cannot hold what must stay, ${total} tokens (overhead ${overhead}, system ${system2}, protected ${pinned}, summary ${summary}, newest round ${newest}): raise the budget, protect less, or use a strategy that clears or shortens results`;
  }
};
var MemoryError = Schema.Union(
  InvalidBudget,
  InvalidMessage,
  TokenCountError,
  SummarizeError,
  TrimError,
  MemoryStoreError,
  BudgetUnsatisfiable
);

// src/Budget.ts
var limit = (field, given) => given === void 0 || Number.isSafeInteger(given) && given >= 0 ? Effect.succeed(given) : Effect.fail(new InvalidBudget({ field, given: String(given) }));
var make = (limits) => Effect.all({
  maxTokens: limit("maxTokens", limits.maxTokens),
  maxRounds: limit("maxRounds", limits.maxRounds)
});

// src/internal/counting.ts
import * as Effect2 from "effect/Effect";
import * as Exit from "effect/Exit";
var concurrency = 8;
var remembering = (counter2, counts) => ({
  ...counter2,
  countMessage: (message2) => {
    const known = counts.get(message2);
    return known !== void 0 ? Exit.succeed(known) : chain(counter2.countMessage(message2), (tokens) => {
      if (!isCount(tokens)) return notACount(counter2.id, tokens);
      counts.set(message2, tokens);
      return Exit.succeed(tokens);
    });
  }
});
var isDone = (self) => Exit.isExit(self);
var answerOf = (self) => isDone(self) && Exit.isSuccess(self) ? self.value : void 0;
var chain = (self, f) => isDone(self) && Exit.isSuccess(self) ? f(self.value) : Effect2.flatMap(self, f);
var isCount = (tokens) => Number.isFinite(tokens) && tokens >= 0;
var notACount = (counter2, tokens) => Exit.fail(
  new TokenCountError({ counter: counter2, reason: `it answered ${tokens}: a count is a finite number of at least 0` })
);
var countAll = (counter2, messages) => messages.length === 1 ? Effect2.map(counter2.countMessage(messages[0]), (tokens) => [tokens]) : Effect2.forEach(messages, (message2) => counter2.countMessage(message2), { concurrency });

// src/internal/runStrategy.ts
import * as Cause from "effect/Cause";
import * as Effect5 from "effect/Effect";
import * as Either from "effect/Either";

// src/Message.ts
var Message_exports = {};
__export(Message_exports, {
  Message: () => Message2,
  assistant: () => assistant,
  file: () => file,
  fromUnknown: () => fromUnknown,
  isMessage: () => isMessage,
  isSummary: () => isSummary2,
  isToolCall: () => isToolCall,
  isToolResult: () => isToolResult,
  parts: () => parts,
  reasoning: () => reasoning,
  system: () => system,
  text: () => text,
  tool: () => tool,
  toolCall: () => toolCall,
  toolCalls: () => toolCalls,
  toolResult: () => toolResult,
  toolResults: () => toolResults,
  user: () => user
});
import * as Effect3 from "effect/Effect";
import * as Predicate from "effect/Predicate";
import * as Schema3 from "effect/Schema";

// src/internal/invalidMessage.ts
import * as ParseResult from "effect/ParseResult";
var expected = {
  role: `one of "system", "user", "assistant", "tool"`,
  type: `a part that this role may hold: "text", "file", "reasoning", "tool-call" or "tool-result"`,
  content: "text, or a list of parts (text alone for a system message, results alone for a tool message)",
  text: "text",
  mediaType: 'a media type such as "image/png"',
  data: "a base64 string, bytes or a URL",
  params: "a JSON value",
  result: "a JSON value",
  options: "an object of provider settings by provider name"
};
var quotable = /* @__PURE__ */ new Set(["role", "type"]);
var describe = (value, quote) => {
  switch (typeof value) {
    case "string":
      return quote ? JSON.stringify(value.slice(0, 40)) : `a string of ${value.length} characters`;
    case "number":
    case "boolean":
    case "undefined":
      return String(value);
    case "object":
      return value === null ? "null" : Array.isArray(value) ? `a list of ${value.length}` : "an object";
    default:
      return `a ${typeof value}`;
  }
};
var valueAt = (input, path) => path.reduce(
  (value, key) => typeof value === "object" && value !== null ? Reflect.get(value, key) : void 0,
  input
);
var describeIssue = (error, input) => {
  const issues = ParseResult.ArrayFormatter.formatErrorSync(error);
  const path = issues.reduce(
    (deepest, issue) => issue.path.length > deepest.length ? issue.path : deepest,
    issues[0]?.path ?? []
  );
  const name = String(path.findLast((key) => typeof key === "string") ?? "");
  return {
    field: path.length === 0 ? "message" : path.map(String).join("."),
    given: describe(valueAt(input, path), quotable.has(name)),
    expected: expected[name] ?? (path.length === 0 ? "an object with role and content" : "a value of another kind")
  };
};

// src/internal/json.ts
var maxDepth = 500;
var wellFormed = (text2) => text2.isWellFormed() ? text2 : text2.toWellFormed();
var ok = (value) => ({ ok: true, value });
var isPlain = (value) => {
  const prototype = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
};
var normalize = (value, depth = 0) => {
  switch (typeof value) {
    case "string":
      return ok(wellFormed(value));
    case "boolean":
      return ok(value);
    case "number":
      return ok(Number.isFinite(value) ? value : null);
    case "bigint":
      return ok(value.toString());
    case "object":
      return value === null ? ok(null) : normalizeObject(value, depth);
    default:
      return ok(null);
  }
};
var normalizeObject = (value, depth) => {
  if (depth >= maxDepth) return { ok: false, why: `is circular or nested deeper than ${maxDepth} levels` };
  if (Array.isArray(value)) return normalizeArray(value, depth);
  if (value instanceof Date) return ok(Number.isNaN(value.getTime()) ? null : value.toISOString());
  if (value instanceof URL) return ok(value.href);
  if (value instanceof Map || value instanceof Set) return normalizeArray(Array.from(value), depth);
  if (ArrayBuffer.isView(value) && !(value instanceof DataView)) {
    return normalizeArray(Array.from(value), depth);
  }
  return normalizeRecord(value, depth);
};
var normalizeArray = (items, depth) => {
  let copy;
  for (let i = 0; i < items.length; i++) {
    const item = normalize(items[i], depth + 1);
    if (!item.ok) return item;
    if (copy === void 0 && (item.value !== items[i] || !(i in items))) copy = items.slice(0, i);
    copy?.push(item.value);
  }
  return ok(copy ?? items);
};
var normalizeRecord = (record, depth) => {
  const entries = [];
  let changed = !isPlain(record);
  for (const [key, descriptor] of Object.entries(Object.getOwnPropertyDescriptors(record))) {
    if (descriptor.enumerable !== true || !("value" in descriptor) || isAbsent(descriptor.value)) {
      changed = true;
      continue;
    }
    const item = normalize(descriptor.value, depth + 1);
    if (!item.ok) return item;
    const name = wellFormed(key);
    changed = changed || name !== key || item.value !== descriptor.value;
    entries.push([name, item.value]);
  }
  return ok(changed ? Object.fromEntries(entries) : record);
};
var isAbsent = (value) => value === void 0 || typeof value === "function" || typeof value === "symbol";
var stringify = (value) => {
  if (typeof value === "string") return value;
  const normalized = normalize(value);
  return normalized.ok ? JSON.stringify(normalized.value) : "";
};
var normalizeOrKeep = (value) => {
  const normalized = normalize(value);
  return normalized.ok ? normalized.value : value;
};

// src/internal/messageSchema.ts
import * as ParseResult2 from "effect/ParseResult";
import * as Schema2 from "effect/Schema";
var Text = Schema2.transform(
  Schema2.String,
  Schema2.String.pipe(Schema2.filter((text2) => text2.isWellFormed() || "has lone surrogates")),
  { strict: true, decode: wellFormed, encode: (text2) => text2 }
);
var isNormalJson = (value) => {
  const normalized = normalize(value);
  return normalized.ok && Object.is(normalized.value, value);
};
var Json = Schema2.transformOrFail(Schema2.Unknown, Schema2.Unknown.pipe(Schema2.filter(isNormalJson)), {
  strict: true,
  decode: (value, _, ast) => {
    const normalized = normalize(value);
    return normalized.ok ? ParseResult2.succeed(normalized.value) : ParseResult2.fail(new ParseResult2.Type(ast, void 0, normalized.why));
  },
  encode: ParseResult2.succeed
});
var options = Schema2.optionalWith(
  Schema2.Record({
    key: Schema2.String,
    value: Schema2.UndefinedOr(Schema2.Record({ key: Schema2.String, value: Schema2.Unknown }))
  }),
  { default: () => ({}) }
);
var flag = Schema2.optionalWith(Schema2.Boolean, { default: () => false });
var TaggedBytes = Schema2.transform(
  Schema2.Struct({ _tag: Schema2.Literal("Uint8Array"), base64: Schema2.Uint8ArrayFromBase64 }),
  Schema2.Uint8ArrayFromSelf,
  {
    strict: true,
    decode: ({ base64 }) => base64,
    encode: (bytes) => ({ _tag: "Uint8Array", base64: bytes })
  }
);
var TaggedUrl = Schema2.transform(
  Schema2.Struct({ _tag: Schema2.Literal("URL"), href: Schema2.URL }),
  Schema2.URLFromSelf,
  { strict: true, decode: ({ href }) => href, encode: (href) => ({ _tag: "URL", href }) }
);
var TextPart = Schema2.Struct({ type: Schema2.Literal("text"), text: Text, options });
var ReasoningPart = Schema2.Struct({ type: Schema2.Literal("reasoning"), text: Text, options });
var FilePart = Schema2.Struct({
  type: Schema2.Literal("file"),
  mediaType: Schema2.String,
  fileName: Schema2.optional(Schema2.String),
  // Tagged forms stand first: encoding takes the first member that fits.
  data: Schema2.Union(TaggedBytes, TaggedUrl, Schema2.String, Schema2.Uint8ArrayFromSelf, Schema2.URLFromSelf),
  options
});
var ToolCallPart = Schema2.Struct({
  type: Schema2.Literal("tool-call"),
  id: Schema2.String,
  name: Schema2.String,
  params: Json,
  providerExecuted: flag,
  options
});
var ToolResultPart = Schema2.Struct({
  type: Schema2.Literal("tool-result"),
  id: Schema2.String,
  name: Schema2.String,
  isFailure: flag,
  result: Json,
  providerExecuted: flag,
  options
});
var orText = (part) => Schema2.Union(
  Schema2.Array(part),
  Schema2.transform(Schema2.String, Schema2.typeSchema(Schema2.Tuple(TextPart)), {
    strict: true,
    decode: (text2) => [{ type: "text", text: wellFormed(text2), options: {} }],
    encode: ([part2]) => part2.text
  })
);
var SystemMessage = Schema2.Struct({ role: Schema2.Literal("system"), content: Text, options });
var UserMessage = Schema2.Struct({
  role: Schema2.Literal("user"),
  content: orText(Schema2.Union(TextPart, FilePart)),
  options
});
var AssistantMessage = Schema2.Struct({
  role: Schema2.Literal("assistant"),
  content: orText(Schema2.Union(TextPart, FilePart, ReasoningPart, ToolCallPart, ToolResultPart)),
  options
});
var ToolMessage = Schema2.Struct({
  role: Schema2.Literal("tool"),
  content: Schema2.Array(ToolResultPart),
  options
});
var Message = Schema2.Union(SystemMessage, UserMessage, AssistantMessage, ToolMessage).annotations({
  identifier: "Message"
});

// src/internal/tag.ts
var namespace = "effect-memory";
var get = (options2, key) => options2[namespace]?.[key];
var make2 = (key, value) => ({ [namespace]: { [key]: value } });
var isSummary = (message2) => get(message2.options, "summary") !== void 0;
var isStandIn = (message2) => isSummary(message2) || get(message2.options, "context") !== void 0;
var describeSummary = (message2, more) => {
  const summary = get(message2.options, "summary");
  return typeof summary !== "object" ? message2 : { ...message2, options: { ...message2.options, ...make2("summary", { ...summary, ...more }) } };
};
var isClosing = (part) => get(part.options, "closes") !== void 0;

// src/Message.ts
var Message2 = Message;
var isNormal = Schema3.is(Schema3.typeSchema(Message2));
var decodeUnknown2 = Schema3.decodeUnknown(Message2);
var fromUnknown = (input) => isNormal(input) ? Effect3.succeed(input) : Effect3.mapError(decodeUnknown2(input), (error) => new InvalidMessage(describeIssue(error, input)));
var asParts = (content) => typeof content === "string" ? [text(content)] : content;
var system = (content, options2 = {}) => ({
  role: "system",
  content: wellFormed(content),
  options: options2
});
var user = (content, options2 = {}) => ({
  role: "user",
  content: asParts(content),
  options: options2
});
var assistant = (content, options2 = {}) => ({ role: "assistant", content: asParts(content), options: options2 });
var tool = (results, options2 = {}) => ({
  role: "tool",
  content: results,
  options: options2
});
var text = (content, options2 = {}) => ({
  type: "text",
  text: wellFormed(content),
  options: options2
});
var reasoning = (content, options2 = {}) => ({
  type: "reasoning",
  text: wellFormed(content),
  options: options2
});
var file = (file2) => ({ type: "file", ...file2, options: file2.options ?? {} });
var toolCall = (call) => ({
  type: "tool-call",
  ...call,
  params: normalizeOrKeep(call.params),
  providerExecuted: call.providerExecuted ?? false,
  options: call.options ?? {}
});
var toolResult = (result) => ({
  type: "tool-result",
  ...result,
  result: normalizeOrKeep(result.result),
  isFailure: result.isFailure ?? false,
  providerExecuted: result.providerExecuted ?? false,
  options: result.options ?? {}
});
var isMessage = (value) => isNormal(value);
var isToolCall = (part) => part.type === "tool-call";
var isToolResult = (part) => part.type === "tool-result";
var isSummary2 = (message2) => isSummary(message2);
var parts = (message2) => Predicate.isString(message2.content) ? [text(message2.content)] : message2.content;
var toolCalls = (message2) => message2.role === "assistant" ? message2.content.filter((part) => isToolCall(part) && !part.providerExecuted) : [];
var toolResults = (message2) => message2.role === "assistant" || message2.role === "tool" ? message2.content.filter(
  (part) => isToolResult(part) && !part.providerExecuted
) : [];

// src/internal/diagnoseProvider.ts
var isOwed = (part) => isToolCall(part) && !part.providerExecuted;
var isOwnResult = (part) => isToolResult(part) && !part.providerExecuted;
var isText = (part) => part.type === "text" || part.type === "file";
var isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
var boundEnd = (parts2) => parts2.findLastIndex((part) => part.type !== "reasoning") + 1;
var diagnoseContent = (findings, message2, at) => {
  if (message2.role !== "assistant") return;
  const end = boundEnd(message2.content);
  let called = false;
  message2.content.forEach((part, index) => {
    if (index >= end) findings.part("LooseReasoning", at, index);
    if (part.type === "file") findings.part("FileInAssistant", at, index);
    if (isOwnResult(part)) findings.call("ResultInAssistant", at, index, part.id);
    if (isToolCall(part) && !isObject(part.params)) findings.call("PartialArguments", at, index, part.id);
    if (called && isText(part)) findings.part("TextAfterCall", at, index);
    called = called || isOwed(part);
  });
};
var diagnoseRoles = (findings, messages) => {
  if (messages.length === 0) return;
  const first = messages.findIndex((message2) => message2.role !== "system");
  if (first >= 0 && messages[first].role !== "user") findings.message("FirstNotUser", first);
  if (!messages.some((message2) => message2.role === "user")) findings.message("NoUser", messages.length - 1);
  let previous;
  messages.forEach((message2, at) => {
    if (message2.role === "system") {
      if (first >= 0 && at > first) findings.message("SystemNotFirst", at);
    } else {
      if (previous === messages[at - 1] && previous?.role === message2.role) findings.message("RolesNotAlternating", at);
      const answers = previous?.role === "user" || previous?.role === "tool";
      if (!answers && toolCalls(message2).length > 0) findings.message("CallNotAfterUser", at);
      previous = message2;
    }
  });
  diagnoseEnd(findings, messages);
};
var diagnoseEnd = (findings, messages) => {
  const last = messages[messages.length - 1];
  const part = last.role === "assistant" ? last.content[last.content.length - 1] : void 0;
  if (part?.type === "text" && part.text !== part.text.trimEnd()) {
    findings.part("TrailingWhiteSpace", messages.length - 1, last.content.length - 1);
  }
};

// src/internal/pairing.ts
var isTurn = (message2) => message2.role === "user" && !isStandIn(message2);
var Pairing = class {
  /** Calls of each message. */
  calls = [];
  /** Results in each message. */
  results = [];
  /** Open calls by id, the one to be answered first at the end. */
  open = /* @__PURE__ */ new Map();
  answered = /* @__PURE__ */ new Set();
  /** User messages that open a round if the calls before them are given up. */
  undecided = [];
  interjected = false;
  /**
   * Takes the next message and returns the indices of the user messages that are now known to open a round.
   */
  push(message2) {
    const index = this.calls.length;
    if (isTurn(message2)) return this.pushUser(index);
    const opened = message2.role === "assistant" ? this.giveUp() : [];
    this.calls.push(message2.role === "assistant" ? this.openCalls(message2, index) : []);
    this.results.push(
      message2.role === "assistant" || message2.role === "tool" ? this.takeResults(message2.content, index) : []
    );
    return opened;
  }
  /** Whether some call still waits for its result. */
  get hasOpenCalls() {
    return this.open.size > 0;
  }
  pushUser(index) {
    this.calls.push([]);
    this.results.push([]);
    if (!this.hasOpenCalls) return [index];
    this.undecided.push(index);
    this.interjected = true;
    return [];
  }
  giveUp() {
    if (!this.interjected) return [];
    for (const calls of this.open.values()) {
      for (const call of calls) call.givenUp = true;
    }
    const opened = this.undecided;
    this.open.clear();
    this.undecided = [];
    this.interjected = false;
    return opened;
  }
  openCalls(message2, at) {
    const calls = [];
    message2.content.forEach((part, index) => {
      if (!isToolCall(part) || part.providerExecuted) return;
      calls.push({ part, message: at, index, answeredAt: void 0, answer: void 0, givenUp: false });
    });
    for (let i = calls.length - 1; i >= 0; i--) {
      const same = this.open.get(calls[i].part.id);
      if (same === void 0) this.open.set(calls[i].part.id, [calls[i]]);
      else same.push(calls[i]);
    }
    return calls;
  }
  takeResults(parts2, at) {
    const results = [];
    parts2.forEach((part, index) => {
      if (isToolResult(part) && !part.providerExecuted) results.push(this.answer(part, at, index));
    });
    return results;
  }
  answer(part, message2, index) {
    const same = this.open.get(part.id);
    const call = same?.pop();
    const result = { part, message: message2, index, call, repeated: call === void 0 && this.answered.has(part.id) };
    if (same === void 0 || call === void 0) return result;
    if (same.length === 0) this.open.delete(part.id);
    call.answeredAt = message2;
    call.answer = result;
    this.answered.add(part.id);
    this.undecided = [];
    if (!this.hasOpenCalls) this.interjected = false;
    return result;
  }
};
var pair = (messages) => {
  const pairing = new Pairing();
  const starts = [];
  for (const message2 of messages) {
    for (const start2 of pairing.push(message2)) starts.push(start2);
  }
  const rounds = [];
  if (messages.length > 0 && starts[0] !== 0) {
    rounds.push({ start: 0, end: starts[0] ?? messages.length, preamble: true });
  }
  starts.forEach((start2, i) => rounds.push({ start: start2, end: starts[i + 1] ?? messages.length, preamble: false }));
  return { pairing, rounds };
};

// src/internal/repairRound.ts
var isEmptyPart = (part) => {
  switch (part.type) {
    case "text":
      return part.text.trim() === "";
    case "reasoning":
      return part.text.trim() === "" && Object.keys(part.options).length === 0;
    default:
      return false;
  }
};
var withoutEmpty = (message2) => {
  if (message2.role === "system") return message2.content.trim() === "" ? void 0 : message2;
  const parts2 = message2.content;
  if (parts2.length === 0) return void 0;
  return parts2.some(isEmptyPart) ? withParts(message2, parts2.filter((part) => !isEmptyPart(part))) : message2;
};
var withParts = (message2, content) => content.length === 0 ? void 0 : { ...message2, content };
var closingResult = (call) => toolResult({
  id: call.id,
  name: call.name,
  isFailure: true,
  result: "No result: the call was interrupted.",
  options: make2("closes", "unanswered")
});
var repairRound = (messages, pairing, round, settled, used) => {
  const lastTurn = lastTurnIndex(messages, round);
  const out = [];
  for (let i = round.start; i < round.end; i++) {
    if (messages[i].role === "tool") continue;
    const calls = pairing.calls[i];
    const ids = calls.length === 0 ? noIds : uniqueIds(calls, used);
    const kept = settle(messages[i], pairing.results[i], i, ids);
    if (kept !== void 0) out.push({ message: kept, source: i });
    if (calls.length === 0) continue;
    pushResults(out, messages, calls, ids);
    const closed = calls.filter(
      (call) => call.answeredAt === void 0 && (settled || call.givenUp || lastTurn > call.message)
    );
    if (closed.length > 0) {
      out.push({
        message: tool(closed.map((call) => closingResult({ ...call.part, id: ids.get(call) ?? call.part.id }))),
        source: i
      });
    }
  }
  return out;
};
var noIds = /* @__PURE__ */ new Map();
var lastTurnIndex = (messages, round) => {
  for (let i = round.end - 1; i >= round.start; i--) {
    if (isTurn(messages[i])) return i;
  }
  return -1;
};
var uniqueIds = (calls, used) => {
  let ids;
  for (const call of calls) {
    const id = used.has(call.part.id) ? freeId(call.part.id, used) : call.part.id;
    used.add(id);
    if (id !== call.part.id) ids = (ids ?? /* @__PURE__ */ new Map()).set(call, id);
  }
  return ids ?? noIds;
};
var freeId = (id, used) => {
  let taken = 1;
  let free = 2;
  while (used.has(`${id}-${free}`)) {
    taken = free;
    free *= 2;
  }
  while (free - taken > 1) {
    const middle = Math.floor((taken + free) / 2);
    if (used.has(`${id}-${middle}`)) taken = middle;
    else free = middle;
  }
  return `${id}-${free}`;
};
var settle = (message2, results, at, ids) => {
  const isOwn = ({ call }) => call?.message === at;
  if (message2.role !== "assistant" || ids.size === 0 && results.every(isOwn)) return withoutEmpty(message2);
  const moved = new Set(results.filter((result) => !isOwn(result)).map(({ index }) => index));
  const renamed = /* @__PURE__ */ new Map();
  for (const [{ answer, index }, id] of ids) {
    renamed.set(index, id);
    if (answer?.message === at) renamed.set(answer.index, id);
  }
  return withoutEmpty({
    ...message2,
    content: message2.content.flatMap((part, index) => {
      if (moved.has(index)) return [];
      const id = renamed.get(index);
      return id === void 0 ? [part] : [{ ...part, id }];
    })
  });
};
var pushResults = (out, messages, calls, ids) => {
  const answers = calls.flatMap(
    ({ answer, message: message2 }) => answer === void 0 || answer.message === message2 ? [] : [answer]
  ).sort((a, b) => a.message - b.message || a.index - b.index);
  for (let from = 0, to = 0; from < answers.length; from = to) {
    const source = answers[from].message;
    while (to < answers.length && answers[to].message === source) to++;
    const message2 = messages[source];
    const parts2 = answers.slice(from, to).map(({ call, part }) => {
      const id = ids.get(call);
      return id === void 0 ? part : { ...part, id };
    });
    const untouched = message2.role === "tool" && parts2.length === message2.content.length && parts2.every((part, i) => part === message2.content[i]);
    out.push({ message: untouched ? message2 : tool(parts2, optionsOf(message2)), source });
  }
};
var optionsOf = (message2) => message2.role === "tool" ? message2.options : {};

// src/internal/repairText.ts
var wellFormedPart = (part) => {
  const fixed = fixedPart(part);
  return Object.entries(fixed).every(([key, value]) => Object.is(Reflect.get(part, key), value)) ? part : { ...part, ...fixed };
};
var fixedPart = (part) => {
  switch (part.type) {
    case "text":
    case "reasoning":
      return { text: wellFormed(part.text) };
    case "file":
      return {
        mediaType: wellFormed(part.mediaType),
        ...part.fileName === void 0 ? {} : { fileName: wellFormed(part.fileName) },
        ...typeof part.data === "string" ? { data: wellFormed(part.data) } : {}
      };
    case "tool-call":
      return { ...identity(part), params: normalizeOrKeep(part.params) };
    case "tool-result":
      return { ...identity(part), result: normalizeOrKeep(part.result) };
  }
};
var identity = (part) => ({
  id: wellFormed(part.id),
  name: wellFormed(part.name)
});

// src/internal/rules.ts
var messageKinds = {
  /** Refused by all: no parts at all, or a blank system message. */
  EmptyMessage: { rules: ["pairing"], remedy: "Leave the message out." },
  /** Anthropic and Gemini take the system prompt beside the messages, not among them. */
  SystemNotFirst: {
    rules: ["anthropic", "gemini"],
    remedy: "Put it before all other messages, or say it in a user message."
  },
  /** Anthropic, older versions: the first message must have the role user. */
  FirstNotUser: { rules: ["anthropic"], remedy: "Start with a user message." },
  /** Anthropic wants at least one message beside the system prompt, Gemini contents. */
  NoUser: { rules: ["anthropic", "gemini"], remedy: "Add a user message." },
  /** Anthropic, older versions and proxies: roles must alternate; a call's results stand in one message. */
  RolesNotAlternating: { rules: ["anthropic", "gemini"], remedy: "Merge it with the message before it." },
  /** Gemini: a function call turn comes immediately after a user turn or a function response turn. */
  CallNotAfterUser: { rules: ["gemini"], remedy: "Put a user message before it." }
};
var partKinds = {
  /** Refused by all: blank text, blank reasoning without a signature. */
  EmptyPart: { rules: ["pairing"], remedy: "Leave the part out." },
  /** Refused by all: a lone surrogate, or what JSON cannot carry otherwise. */
  IllFormed: { rules: ["pairing"], remedy: "Decode the message with Message.fromUnknown before it is recorded." },
  /** Anthropic: text behind a call counts as a call without its results immediately after. */
  TextAfterCall: { rules: ["anthropic"], remedy: "Put the part before the calls of its message." },
  /** Anthropic refuses messages of reasoning alone, OpenAI reasoning without its required following item. */
  LooseReasoning: {
    rules: ["anthropic", "openai"],
    remedy: "Keep it with the text or call that it led to, or leave it out."
  },
  /** Anthropic: final assistant content cannot end with trailing white space. */
  TrailingWhiteSpace: { rules: ["anthropic"], remedy: "Cut the white space at the end of the text." },
  /** OpenAI takes images and files in user messages only. */
  FileInAssistant: { rules: ["openai"], remedy: "Put the file into a user message." }
};
var callKinds = {
  /** Refused by all: a result without a call before it, or of a call that was given up. */
  OrphanResult: { rules: ["pairing"], remedy: "Leave the result out, or bring its call back." },
  /** Refused by all: a second result of one call. */
  RepeatedResult: { rules: ["pairing"], remedy: "Keep one result for each call." },
  /** Refused by all: a call that nobody answered before the user went on. */
  UnansweredCall: { rules: ["pairing"], remedy: "Close the call with a result that says that it failed." },
  /** A call at the end of the newest round whose result may still come. */
  OpenCall: { rules: ["pairing"], remedy: "Record its result before the next request." },
  /** Refused by all: a call with the id of an earlier one. */
  DuplicateId: { rules: ["pairing"], remedy: "Give every call an id of its own." },
  /** Refused by all: something else stands between a call and its result. */
  ResultOutOfPlace: { rules: ["pairing"], remedy: "Put the result right behind the message of its call." },
  /** Anthropic, OpenAI and Gemini take results in a message of their own. */
  ResultInAssistant: {
    rules: ["anthropic", "openai", "gemini"],
    remedy: "Put the result into a tool message behind the message of its call."
  },
  /** Anthropic and Gemini take arguments as an object; a cut stream leaves text. */
  PartialArguments: {
    rules: ["anthropic", "gemini"],
    remedy: "Give the arguments as an object, or leave the call out."
  }
};
var kinds = { ...messageKinds, ...partKinds, ...callKinds };
var ruleOf = (tag, rules) => {
  const asked = kinds[tag].rules;
  return rules === "strict" || asked[0] === "pairing" ? asked[0] : asked.find((rule) => rule === rules);
};
var asks = (rules, tag) => ruleOf(tag, rules) !== void 0;
var Findings = class {
  constructor(rules) {
    this.rules = rules;
  }
  rules;
  list = [];
  message(_tag, message2) {
    const rule = ruleOf(_tag, this.rules);
    if (rule !== void 0) this.list.push({ _tag, rule, message: message2, remedy: kinds[_tag].remedy });
  }
  part(_tag, message2, part) {
    const rule = ruleOf(_tag, this.rules);
    if (rule !== void 0) this.list.push({ _tag, rule, message: message2, part, remedy: kinds[_tag].remedy });
  }
  call(_tag, message2, part, callId) {
    const rule = ruleOf(_tag, this.rules);
    if (rule !== void 0) this.list.push({ _tag, rule, message: message2, part, callId, remedy: kinds[_tag].remedy });
  }
};

// src/internal/diagnose.ts
var diagnose = (messages, rules) => {
  const findings = new Findings(rules);
  const { pairing } = pair(messages);
  const lastTurn = messages.findLastIndex(isTurn);
  const ids = /* @__PURE__ */ new Set();
  let asker = -1;
  messages.forEach((message2, at) => {
    if (message2.role !== "tool") asker = at;
    diagnoseParts(findings, message2, at);
    diagnoseCalls(findings, pairing, at, lastTurn, ids);
    diagnoseResults(findings, message2, pairing, at, asker);
    diagnoseContent(findings, message2, at);
  });
  diagnoseRoles(findings, messages);
  return findings.list.sort((a, b) => a.message - b.message);
};
var diagnoseParts = (findings, message2, at) => {
  if (message2.role === "system") {
    if (message2.content.trim() === "") findings.message("EmptyMessage", at);
    if (!message2.content.isWellFormed()) findings.part("IllFormed", at, 0);
    return;
  }
  const parts2 = message2.content;
  if (parts2.length === 0) findings.message("EmptyMessage", at);
  parts2.forEach((part, index) => {
    if (isEmptyPart(part)) findings.part("EmptyPart", at, index);
    if (wellFormedPart(part) !== part) findings.part("IllFormed", at, index);
  });
};
var diagnoseCalls = (findings, pairing, at, lastTurn, ids) => {
  for (const { answer, index, part: { id } } of pairing.calls[at]) {
    if (ids.has(id)) findings.call("DuplicateId", at, index, id);
    ids.add(id);
    if (answer === void 0) findings.call(lastTurn > at ? "UnansweredCall" : "OpenCall", at, index, id);
  }
};
var diagnoseResults = (findings, message2, pairing, at, asker) => {
  for (const { call, index, part: { id }, repeated } of pairing.results[at]) {
    if (call === void 0) findings.call(repeated ? "RepeatedResult" : "OrphanResult", at, index, id);
    else if (call.message !== asker) findings.call("ResultOutOfPlace", at, index, id);
  }
  if (message2.role !== "tool") return;
  message2.content.forEach((part, index) => {
    if (part.providerExecuted) findings.call("OrphanResult", at, index, part.id);
  });
};

// src/internal/settle.ts
import { isRecord } from "effect/Predicate";
var mustStay = (items, groups) => {
  const stay = /* @__PURE__ */ new Set();
  const newest = items.at(-1)?.round;
  items.forEach((item, i) => {
    if (item.protected || item.pinned && item.sequence >= 0) stay.add(i);
    else if (item.round === newest && item.sequence >= 0 && item.message.role === "user") stay.add(i);
  });
  groups.forEach((group, g) => {
    if (items[group.items[0]].round !== newest) return;
    if (g === groups.length - 1 || group.open) {
      for (const i of group.items) stay.add(i);
    }
  });
  return stay;
};
var groupsOf = (messages) => {
  const { pairing } = pair(messages);
  return messages.flatMap((message2, i) => {
    if (message2.role !== "assistant") return [];
    const answers = new Set(
      pairing.calls[i].flatMap(
        (call) => call.answeredAt === void 0 || call.answeredAt === i ? [] : [call.answeredAt]
      )
    );
    const open = pairing.calls[i].some(({ answer }) => answer === void 0 || isClosing(answer.part));
    return [{ items: [i, ...answers], open }];
  });
};
var originsOf = (inputs, result) => {
  if (result.origin !== void 0) return result.origin;
  const places = /* @__PURE__ */ new Map();
  inputs.forEach((message2, i) => {
    const same = places.get(message2);
    if (same === void 0) places.set(message2, [i]);
    else same.push(i);
  });
  return result.messages.map((message2) => message2).reverse().map((message2) => {
    const same = places.get(message2) ?? [-1];
    return same.length > 1 ? same.pop() : same[0];
  }).reverse();
};
var isIndex = (i, length) => Number.isInteger(i) && i >= 0 && i < length;
var faultOf = (result, inputs) => {
  if (!isRecord(result) || !Array.isArray(result.messages)) return "it returned no list of messages";
  if (typeof result.replace !== "boolean") return `replace is ${String(result.replace)}: say true or false`;
  const known = new Set(inputs);
  const wrong = result.messages.findIndex((message2) => !known.has(message2) && !isMessage(message2));
  if (wrong >= 0) return `messages[${wrong}] is not a message: make it with the constructors of Message`;
  if (result.origin !== void 0) {
    if (!Array.isArray(result.origin)) return "origin is not a list: give one index for each message";
    if (result.origin.length !== result.messages.length) {
      return `origin names ${result.origin.length} messages of ${result.messages.length}: give one index for each`;
    }
  }
  if (result.covers !== void 0 && !Array.isArray(result.covers)) return "covers is not a list of indices";
  const origin = result.origin?.find((i) => i !== -1 && !isIndex(i, inputs.length));
  if (origin !== void 0) return `origin holds ${origin}: give an index of the input, or -1 for a new message`;
  const covered = result.covers?.find((i) => !isIndex(i, inputs.length));
  return covered === void 0 ? void 0 : `covers holds ${covered}: give indices of the input`;
};
var settle2 = (items, seen, result) => {
  const groups = groupsOf(items.map((item) => item.message));
  const stay = mustStay(items, groups);
  const origins = originsOf(seen.map((i) => items[i].message), result);
  const kept = /* @__PURE__ */ new Map();
  const added = [];
  result.messages.forEach((message2, i) => {
    if (origins[i] === -1) added.push(message2);
    else if (!kept.has(seen[origins[i]])) kept.set(seen[origins[i]], message2);
  });
  for (const i of stay) if (!kept.has(i)) kept.set(i, items[i].message);
  const covers = /* @__PURE__ */ new Set();
  if (result.replace) {
    const named = result.covers?.map((i) => seen[i]) ?? seen;
    for (const i of named) if (!kept.has(i)) covers.add(i);
  }
  for (const group of groups) {
    const partly = group.items.some((i) => kept.has(i)) && group.items.some((i) => !kept.has(i));
    if (!partly) continue;
    const whole = group.items.some((i) => stay.has(i));
    const covered = group.items.some((i) => covers.has(i));
    for (const i of group.items) {
      if (whole) {
        covers.delete(i);
        if (!kept.has(i)) kept.set(i, items[i].message);
      } else {
        kept.delete(i);
        if (covered) covers.add(i);
      }
    }
  }
  items.forEach((item, i) => {
    if (item.sequence < 0 && !covers.has(i) && !kept.has(i)) kept.set(i, item.message);
  });
  const earlier = items.flatMap((item, i) => item.sequence < 0 && kept.has(i) ? [kept.get(i)] : []);
  const news = result.replace && covers.size === 0 ? [] : added;
  return { placed: place(items, kept, news), covers, standIns: [...earlier, ...news] };
};
var place = (items, kept, added) => {
  const gap = items.findIndex((_, i) => !kept.has(i));
  const at = gap >= 0 ? gap : items.findIndex((item) => !item.pinned);
  const news = added.map((message2) => ({ message: message2, item: void 0 }));
  const out = at < 0 ? [...news] : [];
  items.forEach((_, i) => {
    if (i === at) {
      for (const place2 of news) out.push(place2);
    }
    const message2 = kept.get(i);
    if (message2 !== void 0) out.push({ message: message2, item: i });
  });
  return out;
};
var compactionOf = (raws, items, current, settled) => {
  const state = /* @__PURE__ */ new Map();
  items.forEach((item, i) => {
    if (item.sequence >= 0) state.set(item.sequence, settled.covers.has(i) && state.get(item.sequence) !== false);
  });
  const last = items.reduce((highest, item) => Math.max(highest, item.sequence), -1);
  const covered = /* @__PURE__ */ new Set();
  let before = false;
  let from = current?.from ?? Infinity;
  let upTo = current?.upTo ?? 0;
  for (const { protected: isProtected, sequence } of raws) {
    if (sequence < 0 || sequence > last) continue;
    before = state.get(sequence) ?? (before && !isProtected);
    if (!before) continue;
    covered.add(sequence);
    from = Math.min(from, sequence);
    upTo = Math.max(upTo, sequence + 1);
  }
  const keep = raws.flatMap(
    ({ sequence }) => sequence >= from && sequence < upTo && !covered.has(sequence) ? [sequence] : []
  );
  return { from, upTo, keep, messages: settled.standIns };
};

// src/internal/target.ts
import * as Effect4 from "effect/Effect";

// src/internal/window.ts
var roundUp = (excess, limit2, target) => {
  if (excess <= 0 || target === void 0 || target >= limit2) return excess;
  const step = limit2 - target;
  return Math.ceil(excess / step) * step;
};
var stepped = (excess, limit2, target) => ({
  tokens: roundUp(excess.tokens, limit2.tokens, target.tokens),
  rounds: roundUp(excess.rounds, limit2.rounds, target.rounds)
});
var firstKept = (tokensBefore, roundsBefore, count, excess) => {
  let low = 0;
  let high = count;
  while (low < high) {
    const middle = low + high >>> 1;
    if (tokensBefore[middle] >= excess.tokens && roundsBefore[middle] >= excess.rounds) high = middle;
    else low = middle + 1;
  }
  return low;
};
var keptLines = (lines, newest, limits, overhead, target) => {
  let tokens = overhead;
  let rounds = 0;
  let dropTokens = 0;
  let dropRounds = 0;
  const starts = [];
  const tokensBefore = [];
  const roundsBefore = [];
  for (let start2 = 0; start2 < lines.length; ) {
    const { counted, round } = lines[start2];
    let end = start2;
    let droppable = 0;
    let pinned = true;
    for (; end < lines.length && lines[end].round === round; end++) {
      tokens += lines[end].tokens;
      if (lines[end].pinned) continue;
      droppable += lines[end].tokens;
      pinned = false;
    }
    if (counted) rounds++;
    if (start2 < newest) {
      starts.push(start2);
      tokensBefore.push(dropTokens);
      roundsBefore.push(dropRounds);
      dropTokens += droppable;
      if (counted && !pinned) dropRounds++;
    }
    start2 = end;
  }
  const excess = stepped({ tokens: tokens - limits.tokens, rounds: rounds - limits.rounds }, limits, target);
  const first = firstKept(tokensBefore, roundsBefore, starts.length, excess);
  const from = starts[first] ?? newest;
  return lines.flatMap((line, i) => i >= from || line.pinned ? [i] : []);
};

// src/internal/windowDrop.ts
var WindowOptions = /* @__PURE__ */ Symbol.for("effect-memory/TrimStrategy/WindowOptions");
var limitsOf = (budget) => ({
  tokens: budget.maxTokens ?? Infinity,
  rounds: Math.max(1, budget.maxRounds ?? Infinity)
});
var linesOf = (input, system2) => {
  const standIns = new Set(input.standIns);
  const { rounds } = pair(
    input.messages.map((message2, i) => standIns.has(i) ? system("") : message2)
  );
  return rounds.flatMap(
    (round, ordinal) => input.messages.slice(round.start, round.end).map((message2, offset) => {
      const i = round.start + offset;
      const free = system2 === "free" && message2.role === "system";
      return {
        tokens: input.counts[i],
        // The newest round may begin inside a span, where the round before it was protected.
        round: i >= input.newest ? rounds.length : ordinal,
        pinned: free || standIns.has(i) || system2 === "keep" && round.preamble && message2.role === "system",
        counted: !round.preamble
      };
    })
  );
};
var windowDrop = (input, system2, target) => keptLines(linesOf(input, system2), input.newest, limitsOf(input.budget), input.counter.overhead, target);

// src/internal/target.ts
var none = { tokens: void 0, rounds: void 0 };
var isTarget = (target) => target === void 0 || target > 0 && (target < 1 || Number.isSafeInteger(target));
var of = (target, budget) => {
  if (target === void 0 || !isTarget(target)) return none;
  const { rounds, tokens } = limitsOf(budget);
  return target < 1 ? { tokens: Math.floor(tokens * target), rounds: Math.max(1, Math.floor(rounds * target)) } : { tokens: target, rounds: void 0 };
};
var resolve = (target, budget) => isTarget(target) ? Effect4.succeed(of(target, budget)) : Effect4.fail(
  new TrimError({
    reason: `target is ${target}: give a fraction between 0 and 1, or a whole number of tokens from 1 on`
  })
);

// src/internal/runStrategy.ts
var systemRule = (strategy) => strategy.system ?? "keep";
var inputOf = (items, budget, counter2) => {
  const seen = items.flatMap((item, i) => item.protected ? [] : [i]);
  const pinned = items.filter((item) => item.protected);
  const pinnedRounds = new Set(pinned.filter((item) => item.counted).map((item) => item.round)).size;
  const newestRound = items.at(-1)?.round;
  const newest = seen.findIndex((i) => items[i].round === newestRound);
  const less = (limit2, taken) => limit2 === void 0 ? void 0 : Math.max(0, limit2 - taken);
  return {
    seen,
    input: {
      messages: seen.map((i) => items[i].message),
      counts: seen.map((i) => items[i].tokens),
      budget: {
        maxTokens: less(budget.maxTokens, pinned.reduce((sum2, item) => sum2 + item.tokens, 0)),
        maxRounds: less(budget.maxRounds, pinnedRounds)
      },
      counter: counter2,
      standIns: seen.flatMap((i, at) => items[i].sequence < 0 ? [at] : []),
      newest: newest < 0 ? seen.length : newest
    }
  };
};
var guarded = (run) => Effect5.catchAllCause(run, (cause) => Either.match(Cause.failureOrCause(cause), {
  onLeft: Effect5.fail,
  onRight: (died) => Effect5.fail(new TrimError({ reason: "the strategy died, see the cause", cause: Cause.squash(died) }))
}));
var runStrategy = Effect5.fnUntraced(function* (items, given, budget, system2, trim) {
  const { input, seen } = given;
  const { counter: counter2 } = input;
  const result = yield* guarded(Effect5.suspend(() => trim(input)));
  const fault = faultOf(result, input.messages);
  if (fault !== void 0) return yield* new TrimError({ reason: fault });
  const settled = settle2(items, seen, result);
  const unsendable = unsendableOf(items, settled.placed);
  if (unsendable !== void 0) return yield* new TrimError({ reason: unsendable });
  const fitted = fit(
    items,
    settled.placed,
    yield* chargesOf(items, settled.placed, system2, counter2),
    input,
    budget,
    system2
  );
  const limit2 = limitsOf(budget).tokens;
  if (settled.covers.size === 0 && fitted.tokens > limit2) {
    const plain = fit(items, asPlaced(items), items.map((item) => item.tokens), input, budget, system2);
    if (fitted.tokens > plain.tokens) {
      return yield* new TrimError({
        reason: `what it returned takes ${fitted.tokens} tokens of ${limit2}: keep less, or let new messages replace others`
      });
    }
  }
  const standIns = yield* countAll(counter2, settled.standIns);
  const covered = Array.from(settled.covers, (i) => items[i].tokens);
  return {
    ...settled,
    ...fitted,
    seen,
    result,
    won: sum(covered) - (sum(standIns) - earlierStandIns(items, settled))
  };
});
var asPlaced = (items) => items.map(({ message: message2 }, item) => ({ message: message2, item }));
var fit = (items, placed, charged, input, budget, system2) => {
  const lines = linesOf2(items, placed, charged, system2);
  const newestRound = items.at(-1)?.round ?? 0;
  const newest = lines.findIndex((line) => line.round === newestRound);
  const from = newest < 0 ? lines.length : newest;
  const { overhead } = input.counter;
  const kept = keptLines(lines, from, limitsOf(budget), overhead, none);
  return {
    context: kept.map((i) => placed[i]),
    tokens: kept.reduce((total, i) => total + charged[i], overhead),
    rounds: new Set(kept.flatMap((i) => lines[i].counted ? [lines[i].round] : [])).size
  };
};
var unsendableOf = (items, placed) => {
  const isAsGiven = ({ item, message: message2 }) => item !== void 0 && message2 === items[item].message;
  if (placed.every(isAsGiven)) return void 0;
  const faultIn = (sequence) => diagnose(sequence.map(({ message: message2 }) => message2), "pairing").find(({ _tag }) => _tag !== "OpenCall");
  const fault = faultIn(placed);
  return fault === void 0 || faultIn(items) !== void 0 ? void 0 : `what it returned cannot be sent, ${fault._tag} at message ${fault.message}: ${fault.remedy}`;
};
var sum = (numbers) => numbers.reduce((total, n) => total + n, 0);
var earlierStandIns = (items, settled) => sum(items.flatMap((item, i) => item.sequence < 0 && !settled.covers.has(i) ? [item.tokens] : []));
var isFree = (message2, system2) => system2 === "free" && message2.role === "system";
var chargesOf = (items, placed, system2, counter2) => {
  const counted = placed.filter(({ item, message: message2 }) => item === void 0 || message2 !== items[item].message);
  return Effect5.map(countAll(counter2, counted.map(({ message: message2 }) => message2)), (counts) => {
    const fresh = new Map(counted.map((place2, i) => [place2, counts[i]]));
    return placed.map((place2) => isFree(place2.message, system2) ? 0 : fresh.get(place2) ?? items[place2.item].tokens);
  });
};
var linesOf2 = (items, placed, charged, system2) => {
  let round = items.at(-1)?.round ?? 0;
  let counted = false;
  return placed.map((place2, i) => ({ place: place2, tokens: charged[i] })).reverse().map(({ place: place2, tokens }) => {
    const item = place2.item === void 0 ? void 0 : items[place2.item];
    if (item !== void 0) {
      round = item.round;
      counted = item.counted;
    }
    return { tokens, round, counted, pinned: item === void 0 || item.pinned || isFree(place2.message, system2) };
  }).reverse();
};

// src/internal/trimmer.ts
import * as Effect9 from "effect/Effect";
import * as Metric3 from "effect/Metric";
import * as Option from "effect/Option";
import * as Ref2 from "effect/Ref";
import * as Scope from "effect/Scope";

// src/MemoryEvent.ts
import * as Data from "effect/Data";
var MemoryEvent = Data.taggedEnum();

// src/MemoryMetrics.ts
import * as Metric from "effect/Metric";
import * as MetricBoundaries from "effect/MetricBoundaries";
var contextTokens = Metric.histogram(
  "effect_memory_context_tokens",
  MetricBoundaries.exponential({ start: 128, factor: 2, count: 14 }),
  "Tokens of the contexts handed out"
);
var trims = Metric.counter("effect_memory_trims", {
  description: "Contexts that were trimmed",
  incremental: true
});
var compactions = Metric.counter("effect_memory_compactions", {
  description: "Compactions committed",
  incremental: true
});
var failures = Metric.counter("effect_memory_failures", {
  description: "Strategies that failed",
  incremental: true
});
var countFailures = Metric.counter("effect_memory_count_failures", {
  description: "Conversations that could not be counted as a whole",
  incremental: true
});
var summarizerLatency = Metric.timer("effect_memory_summarizer_latency", "How long summarizers take");

// src/internal/backoff.ts
import * as Clock from "effect/Clock";
import * as Effect6 from "effect/Effect";
import * as Schedule from "effect/Schedule";
import * as Decision from "effect/ScheduleDecision";
import * as Intervals from "effect/ScheduleIntervals";
import * as SynchronizedRef from "effect/SynchronizedRef";
var defaultSchedule = Schedule.union(
  Schedule.exponential("1 second"),
  Schedule.spaced("5 minutes")
);
var make4 = (schedule) => Effect6.map(SynchronizedRef.make({ state: schedule.initial, due: 0 }), (ref) => ({
  isDue: Effect6.zipWith(Clock.currentTimeMillis, SynchronizedRef.get(ref), (now, { due }) => now >= due),
  failed: SynchronizedRef.modifyEffect(
    ref,
    Effect6.fnUntraced(function* ({ state }) {
      const now = yield* Clock.currentTimeMillis;
      const [next, , decision] = yield* schedule.step(now, void 0, state);
      const due = Decision.isContinue(decision) ? Intervals.start(decision.intervals) : Infinity;
      return [due, { state: next, due }];
    })
  ),
  succeeded: SynchronizedRef.set(ref, { state: schedule.initial, due: 0 })
}));

// src/internal/compactor.ts
import * as Duration from "effect/Duration";
import * as Effect7 from "effect/Effect";
import * as Exit2 from "effect/Exit";
import * as Fiber from "effect/Fiber";
import * as Metric2 from "effect/Metric";
var withRange = (compaction, counts) => {
  const { from, messages, upTo } = compaction;
  return {
    ...compaction,
    messages: messages.map((message2) => {
      const tokens = counts.get(message2);
      const ranged = describeSummary(message2, { from, upTo, tokensAfter: tokens });
      if (tokens !== void 0) counts.set(ranged, tokens);
      return ranged;
    })
  };
};
var isProtectedNow = ({ view }, items, { covers }) => {
  const pinned = new Set(view.snapshot().flatMap((item) => item.protected ? [item.sequence] : []));
  return Array.from(covers).some((i) => items[i].sequence >= 0 && pinned.has(items[i].sequence));
};
var make5 = (options2, scope) => {
  const { id, publish: publish2, session, strategy } = options2;
  const { counter: counter2, counts } = session;
  const run = Effect7.fnUntraced(function* (trim, budget) {
    const { items, revision, version } = yield* session.readCounted(({ revision: revision2, version: version2, view }) => ({
      items: view.snapshot(),
      revision: revision2,
      version: version2
    }));
    const given = inputOf(items, budget, counter2);
    const running = yield* Effect7.forkIn(runStrategy(items, given, budget, systemRule(strategy), trim), scope);
    const outcome = yield* Fiber.join(running).pipe(
      Effect7.timeoutFail({
        duration: options2.timeout,
        onTimeout: () => new TrimError({ reason: `no result within ${Duration.format(options2.timeout)}: bound what it waits for` })
      }),
      Effect7.onExit((exit2) => Exit2.isSuccess(exit2) ? Effect7.void : Fiber.interruptFork(running))
    );
    return { items, outcome, version, revision, budget };
  });
  const commit = Effect7.fnUntraced(function* ({ items, outcome, revision }, budgetNow, isWanted) {
    if (outcome.won <= 0) {
      return yield* new TrimError({
        reason: "what it made takes no fewer tokens than what it stands for: ask for a shorter summary"
      });
    }
    const judge = (loaded, budget) => {
      if (loaded.revision !== revision || isProtectedNow(loaded, items, outcome)) return "changed";
      if (isWanted(loaded, budget)) return "committed";
      return loaded.view.uncounted().length > 0 ? "uncounted" : "sufficient";
    };
    const attempt = Effect7.suspend(() => {
      let verdict2 = "changed";
      return session.compact(
        (loaded) => Effect7.map(budgetNow, (budget) => {
          verdict2 = judge(loaded, budget);
          return verdict2 !== "committed" ? void 0 : {
            compaction: withRange(compactionOf(loaded.view.raws, items, loaded.compaction, outcome), counts)
          };
        })
      ).pipe(
        Effect7.map(() => verdict2),
        Effect7.catchIf((error) => error.reason === "conflict", () => Effect7.succeed("changed")),
        Effect7.mapError(
          (cause) => new TrimError({ reason: "the store did not take the compaction, see the cause", cause })
        )
      );
    });
    const verdict = yield* Effect7.repeat(
      Effect7.tap(attempt, (found) => found === "uncounted" ? session.readCounted(() => void 0) : Effect7.void),
      { until: (found) => found !== "uncounted" }
    );
    const isCommitted = verdict === "committed";
    const before = items.reduce((sum2, item) => sum2 + item.tokens, counter2.overhead);
    yield* publish2(
      () => isCommitted ? MemoryEvent.CompactionCommitted({
        conversation: id,
        tokensBefore: before,
        tokensAfter: before - outcome.won
      }) : MemoryEvent.CompactionDiscarded({
        conversation: id,
        reason: verdict === "changed" ? "changed" : "sufficient"
      })
    );
    if (isCommitted) yield* Metric2.increment(compactions);
    return isCommitted;
  });
  return { run, commit };
};

// src/internal/flight.ts
import * as Deferred from "effect/Deferred";
import * as Effect8 from "effect/Effect";
import * as Ref from "effect/Ref";
var make8 = Effect8.fnUntraced(function* (scope) {
  const current = yield* Ref.make(void 0);
  const launch = (task) => Effect8.uninterruptible(Effect8.gen(function* () {
    const own = yield* Deferred.make();
    const running = yield* Ref.modify(current, (other) => [other, other ?? own]);
    if (running !== void 0) return { deferred: running, started: false };
    yield* Effect8.interruptible(task).pipe(
      Effect8.onExit((exit2) => Effect8.zipRight(Ref.set(current, void 0), Deferred.done(own, exit2))),
      Effect8.forkIn(scope)
    );
    return { deferred: own, started: true };
  }));
  const join2 = (task) => Effect8.flatMap(launch(task), ({ deferred }) => Deferred.await(deferred));
  const exclusive = (task) => Effect8.flatMap(launch(task), ({ deferred, started }) => started ? Deferred.await(deferred) : Effect8.zipRight(Effect8.exit(Deferred.await(deferred)), exclusive(task)));
  return { join: join2, exclusive, start: (task) => Effect8.asVoid(launch(task)) };
});

// src/internal/plan.ts
var roundPlans = (items, trigger, outcome) => {
  const fates = fatesOf(items, outcome);
  const newest = items.at(-1)?.round;
  const rounds = [];
  for (let start2 = 0; start2 < items.length; ) {
    const { protected: isProtected, round, sequence } = items[start2];
    let end = start2;
    while (end < items.length && items[end].round === round) end++;
    const count = (fate) => fates.slice(start2, end).reduce((n, found) => found === fate ? n + 1 : n, 0);
    const kept = count("kept");
    rounds.push({
      sequence,
      tokens: items.slice(start2, end).reduce((sum2, item) => sum2 + item.tokens, 0),
      reason: round === newest ? "newest" : isProtected ? "protected" : kept === end - start2 || trigger === "none" ? "fits" : trigger === "tokens" ? "over tokens" : "over rounds",
      kept,
      leftOut: count("left out"),
      cleared: count("cleared"),
      shortened: count("shortened"),
      summarized: count("summarized")
    });
    start2 = end;
  }
  return rounds;
};
var fatesOf = (items, outcome) => {
  if (outcome === void 0) return items.map(() => "kept");
  const kept = new Set(outcome.context.map((place2) => place2.item));
  const rewritten = /* @__PURE__ */ new Map();
  for (const { action, index } of outcome.result.actions ?? []) rewritten.set(outcome.seen[index], action);
  return items.map((_, i) => {
    if (outcome.covers.has(i)) return "summarized";
    if (!kept.has(i)) return "left out";
    const action = rewritten.get(i);
    return action === "cleared" || action === "shortened" ? action : "kept";
  });
};

// src/internal/trimmer.ts
var maxLooks = 3;
var maxProjections = 4;
var sameBudget = (a, b) => a.maxTokens === b.maxTokens && a.maxRounds === b.maxRounds;
var isOver = (view, budget, overhead) => {
  const limits = limitsOf(budget);
  return view.tokens + overhead > limits.tokens || view.rounds > limits.rounds;
};
var make10 = Effect9.fnUntraced(function* (options2) {
  const { id, publish: publish2, session, strategy } = options2;
  const { counter: counter2, counts } = session;
  const scope = yield* Scope.Scope;
  const { commit, run } = make5(options2, scope);
  const plainWindow = strategy.trim === strategy.project ? strategy[WindowOptions] : void 0;
  const state = yield* Ref2.make({ projections: [], stuck: void 0, triedAhead: void 0 });
  const backoff = yield* make4(options2.backoff);
  const projecting2 = yield* make4(options2.backoff);
  const flight = yield* make8(scope);
  const budgetLess = (reserve) => reserve === 0 ? options2.budget : Effect9.map(options2.budget, ({ maxRounds, maxTokens: maxTokens2 }) => ({
    maxRounds,
    maxTokens: maxTokens2 === void 0 ? void 0 : Math.max(0, maxTokens2 - reserve)
  }));
  const materializes = strategy.project !== strategy.trim;
  const tokensOf = (messages) => messages.reduce(
    (sum2, message2) => systemRule(strategy) === "free" && message2.role === "system" ? sum2 : sum2 + (counts.get(message2) ?? 0),
    counter2.overhead
  );
  const fitted = (view, budget, messages, tokens, trimmed = true) => ({
    messages,
    tokens,
    trimmed,
    view: { tokens: view.tokens + counter2.overhead, messages: view.size, repairs: view.repairs() },
    budget
  });
  const whole = (view, budget) => fitted(view, budget, view.all(), view.tokens + counter2.overhead, false);
  const windowed = (view, budget) => {
    const { messages, tokens } = view.window(
      limitsOf(budget),
      counter2.overhead,
      of(plainWindow?.target, budget)
    );
    return fitted(view, budget, messages, tokens);
  };
  const noteStuck = Effect9.fnUntraced(function* (budget) {
    const stuck = yield* session.readCounted(
      ({ view }) => isOver(view, budget, counter2.overhead) ? { newestBegins: view.newestBegins, budget } : void 0
    );
    yield* Ref2.update(state, (now) => ({ ...now, stuck }));
  });
  const fitsByItself = ({ budget, outcome: { context, placed, rounds, tokens } }) => context.length === placed.length && tokens <= limitsOf(budget).tokens && rounds <= limitsOf(budget).rounds;
  const noteFailure = Effect9.fnUntraced(function* (error, of2 = backoff) {
    const retryAt = yield* of2.failed;
    yield* Metric3.increment(failures);
    yield* publish2(() => MemoryEvent.TrimFailed({ conversation: id, error, retryAt }));
  });
  const keepProjection = ({ budget, outcome, version }, provisional) => Ref2.update(state, (now) => ({
    ...now,
    projections: [
      {
        version,
        budget,
        messages: outcome.context.map(({ message: message2 }) => message2),
        tokens: outcome.tokens,
        provisional
      },
      ...now.projections.filter((known) => known.version === version && !sameBudget(known.budget, budget))
    ].slice(0, maxProjections)
  }));
  const started = Effect9.flatMap(
    session.readCounted(({ view }) => view.tokens + counter2.overhead),
    (tokens) => publish2(() => MemoryEvent.CompactionStarted({ conversation: id, tokens }))
  ).pipe(Effect9.when(() => materializes));
  const trimOnce = Effect9.fnUntraced(function* (reserve) {
    yield* started;
    const budget = budgetLess(reserve);
    const done2 = yield* run(strategy.trim, yield* budget);
    if (!done2.outcome.result.replace || done2.outcome.covers.size === 0) {
      yield* keepProjection(done2, false);
    } else if (yield* commit(done2, budget, ({ view }, budget2) => isOver(view, budget2, counter2.overhead))) {
      const unchanged = yield* session.read(({ version }) => version === done2.version + 1);
      if (!unchanged || !fitsByItself(done2)) yield* noteStuck(yield* budget);
    }
    yield* backoff.succeeded;
  }, Effect9.catchTag("TrimError", (error) => noteFailure(error)));
  const projectOnce = (project, reserve, provisional) => Effect9.flatMap(budgetLess(reserve), (budget) => run(project, budget)).pipe(
    Effect9.filterOrFail(
      ({ outcome }) => outcome.covers.size === 0,
      () => new TrimError({ reason: "project returned replace: true: it must only project" })
    ),
    Effect9.flatMap((done2) => keepProjection(done2, provisional)),
    Effect9.zipRight(projecting2.succeeded),
    Effect9.catchTag("TrimError", (error) => noteFailure(error, projecting2))
  );
  const next = Effect9.fnUntraced(function* (stuck, reserve) {
    if (!stuck && (yield* backoff.isDue)) return Option.some(trimOnce(reserve));
    const { project } = strategy;
    return project !== void 0 && (stuck || materializes) && (yield* projecting2.isDue) ? Option.some(projectOnce(project, reserve, !stuck)) : Option.none();
  });
  const look = ({ version, view }, budget, { projections, stuck }, retries, since) => {
    const from = since ?? version;
    if (!isOver(view, budget, counter2.overhead)) return whole(view, budget);
    const projection = projections.find((known) => sameBudget(known.budget, budget) && !(known.provisional && retries));
    return projection !== void 0 && projection.version >= from ? fitted(view, budget, projection.messages.slice(), projection.tokens) : {
      since: from,
      stuck: stuck !== void 0 && sameBudget(stuck.budget, budget) && stuck.newestBegins === view.newestBegins
    };
  };
  const fitPlain = (reserve) => Effect9.flatMap(
    budgetLess(reserve),
    (budget) => session.readCounted(
      ({ view }) => isOver(view, budget, counter2.overhead) ? windowed(view, budget) : whole(view, budget)
    )
  );
  const fitByTask = Effect9.fnUntraced(function* (reserve) {
    let since;
    for (let looks = 0; ; looks++) {
      const budget = yield* budgetLess(reserve);
      const now = yield* Ref2.get(state);
      const retries = now.projections.some(({ provisional }) => provisional) && (yield* backoff.isDue);
      const seen = yield* session.readCounted((loaded) => look(loaded, budget, now, retries, since));
      if ("messages" in seen) return seen;
      const task = looks < maxLooks ? yield* next(seen.stuck, reserve) : Option.none();
      if (Option.isNone(task)) return yield* session.readCounted(({ view }) => windowed(view, budget));
      yield* flight.join(task.value);
      since = seen.since;
    }
  });
  const plan = Effect9.gen(function* () {
    const budget = yield* options2.budget;
    const { stuck } = yield* Ref2.get(state);
    const isDue = yield* backoff.isDue;
    const seen = yield* session.readCounted(({ view }) => ({
      items: view.snapshot(),
      tokens: view.tokens + counter2.overhead,
      floor: view.floor(counter2.overhead),
      over: isOver(view, budget, counter2.overhead),
      stuck: stuck !== void 0 && sameBudget(stuck.budget, budget) && stuck.newestBegins === view.newestBegins
    }));
    const trigger = !seen.over ? "none" : seen.tokens > limitsOf(budget).tokens ? "tokens" : "rounds";
    const told = {
      trigger,
      tokensBefore: seen.tokens,
      maxTokens: budget.maxTokens,
      floor: seen.floor
    };
    const dry = isDue && !seen.stuck ? strategy.plan : strategy.project;
    if (!seen.over) {
      const context = seen.items.map((item) => item.message);
      return { ...told, tokensAfter: seen.tokens, context, rounds: roundPlans(seen.items, trigger, void 0) };
    }
    if (dry === void 0) return { ...told, tokensAfter: void 0, context: [], rounds: [] };
    const { items, outcome } = yield* run(dry, budget);
    return {
      ...told,
      tokensAfter: outcome.tokens,
      context: outcome.context.map(({ message: message2 }) => message2),
      rounds: roundPlans(items, trigger, outcome)
    };
  });
  const force = Effect9.gen(function* () {
    const result = yield* Ref2.make({
      committed: false,
      error: void 0
    });
    const task = Effect9.gen(function* () {
      yield* started;
      const { maxTokens: maxTokens2 } = yield* options2.budget;
      const done2 = yield* run(strategy.trim, { maxTokens: maxTokens2, maxRounds: 1 });
      if (!done2.outcome.result.replace || done2.outcome.covers.size === 0) return;
      const committed2 = yield* commit(done2, options2.budget, () => true);
      yield* Ref2.set(result, { committed: committed2, error: void 0 });
    }).pipe(
      Effect9.catchTag(
        "TrimError",
        (error2) => Effect9.zipRight(noteFailure(error2), Ref2.set(result, { committed: false, error: error2 }))
      )
    );
    yield* flight.exclusive(task);
    const { committed, error } = yield* Ref2.get(result);
    return error === void 0 ? committed : yield* error;
  });
  const ahead = Effect9.fnUntraced(function* (fill) {
    if (!materializes || !(yield* backoff.isDue)) return;
    const budget = yield* options2.budget;
    const filled = ({ maxRounds, maxTokens: maxTokens2 }) => ({
      maxRounds,
      maxTokens: maxTokens2 === void 0 ? void 0 : Math.floor(maxTokens2 * fill)
    });
    const less = filled(budget);
    const task = Effect9.gen(function* () {
      const { triedAhead } = yield* Ref2.get(state);
      const newestBegins = yield* session.read(({ view }) => view.newestBegins);
      if (triedAhead !== void 0 && sameBudget(triedAhead.budget, budget) && triedAhead.newestBegins === newestBegins) return;
      if (yield* session.readCounted(({ view }) => !isOver(view, less, counter2.overhead))) return;
      yield* started;
      const done2 = yield* run(strategy.trim, less);
      if (done2.outcome.result.replace && done2.outcome.covers.size > 0) {
        yield* commit(done2, options2.budget, ({ view }, now) => isOver(view, filled(now), counter2.overhead));
      }
      yield* Ref2.update(state, (now) => ({ ...now, triedAhead: { newestBegins, budget } }));
      yield* backoff.succeeded;
    }).pipe(Effect9.catchTag("TrimError", (error) => noteFailure(error)));
    yield* flight.start(task);
  });
  return { plan, tokensOf, fit: plainWindow === void 0 ? fitByTask : fitPlain, force, ahead };
});

// src/internal/truncate.ts
var unitsOf = (messages) => {
  const groups = groupsOf(messages).map((group) => group.items);
  const grouped = new Set(groups.flat());
  return [...groups, ...messages.flatMap((_, i) => grouped.has(i) ? [] : [[i]])].sort((a, b) => a[0] - b[0]);
};
var stayingUnits = (messages, newest) => {
  const groups = groupsOf(messages);
  const stay = /* @__PURE__ */ new Set();
  for (let i = newest; i < messages.length; i++) if (messages[i].role === "user") stay.add(i);
  groups.forEach(({ items, open }, g) => {
    if (items[0] >= newest && (open || g === groups.length - 1)) stay.add(items[0]);
  });
  return stay;
};
var truncate = (input, system2, target) => {
  const lines = linesOf(input, system2);
  const stay = stayingUnits(input.messages, input.newest);
  const tokensOf = (unit) => unit.reduce((sum2, i) => sum2 + lines[i].tokens, 0);
  const droppable = unitsOf(input.messages).filter(([first2]) => !lines[first2].pinned && !stay.has(first2));
  const total = lines.reduce((sum2, line) => sum2 + line.tokens, input.counter.overhead);
  const limits = { ...limitsOf(input.budget), rounds: Infinity };
  const excess = stepped({ tokens: total - limits.tokens, rounds: -Infinity }, limits, target);
  let before = 0;
  const tokensBefore = droppable.map((unit) => {
    const sum2 = before;
    before += tokensOf(unit);
    return sum2;
  });
  const first = firstKept(tokensBefore, tokensBefore.map(() => 0), droppable.length, excess);
  const dropped = new Set(droppable.slice(0, first).flat());
  return input.messages.flatMap((_, i) => dropped.has(i) ? [] : [i]);
};

// src/internal/forms.ts
var samePart = (a, b) => {
  if (a === b) return true;
  if (a.type === "tool-call" && b.type === "tool-call") {
    return a.id === b.id && a.name === b.name && a.params === b.params;
  }
  return a.type === "tool-result" && b.type === "tool-result" && a.id === b.id && a.name === b.name && a.isFailure === b.isFailure && a.result === b.result;
};
var sameOptions = (a, b) => a === b || Object.keys(a).length === 0 && Object.keys(b).length === 0;
var sameMessage = (a, b) => a.role === b.role && a.role !== "system" && b.role !== "system" && sameOptions(a.options, b.options) && a.content.length === b.content.length && a.content.every((part, i) => samePart(part, b.content[i]));
var formOf = (message2) => parts(message2).reduce(
  (key, part) => part.type === "tool-call" || part.type === "tool-result" ? `${key} ${part.type} ${part.id}` : key,
  message2.role
);
var firstPart = (message2) => {
  const part = message2.content[0];
  return typeof part === "object" && (part.type === "tool-call" || part.type === "tool-result") ? `${message2.role} ${part.type} ${part.id}` : part;
};
var reuse = (previous, next) => {
  if (previous.length === 0) return next;
  const former = new Map(previous.map(({ message: message2 }) => [firstPart(message2), message2]));
  return next.map(({ message: message2, source }) => {
    const candidate = former.get(firstPart(message2));
    return { source, message: candidate !== void 0 && sameMessage(candidate, message2) ? candidate : message2 };
  });
};

// src/internal/view.ts
var View = class {
  constructor(options2, counts, forms = /* @__PURE__ */ new WeakMap()) {
    this.options = options2;
    this.counts = counts;
    this.forms = forms;
  }
  options;
  counts;
  forms;
  /** All messages of the view as recorded. Append-only. */
  raws = [];
  items = [];
  /** For each settled round: index of its first item. */
  roundStart = [];
  roundPreamble = [];
  roundProtected = [];
  /** Indices of the pinned items of settled rounds, ascending. */
  pins = [];
  usedIds = /* @__PURE__ */ new Set();
  /** Sums over settled rounds `0 … r`, as far as everything is counted. */
  tokensBefore = [0];
  roundsBefore = [0];
  pinnedTokens = 0;
  settledRounds = 0;
  settledRepairs = 0;
  /** Index in `raws` where the newest round begins. */
  newestRaw = 0;
  newestPreamble = true;
  pairing = new Pairing();
  newest;
  /** Tokens of the newest round, once all of it is counted. */
  newestSum;
  append(raw) {
    this.raws.push(raw);
    this.newest = void 0;
    this.newestSum = void 0;
    const opened = this.pairing.push(inertIfStandIn(raw));
    if (opened.length === 0) return;
    const messages = this.newestMessages();
    let start2 = 0;
    for (const next of opened) {
      if (next > start2) this.settle(messages, start2, next);
      this.newestPreamble = false;
      start2 = next;
    }
    this.newestRaw += start2;
    if (start2 > 0) {
      this.pairing = new Pairing();
      for (let i = this.newestRaw; i < this.raws.length; i++) this.pairing.push(inertIfStandIn(this.raws[i]));
    }
  }
  /** Items whose count is not known yet. */
  uncounted() {
    this.sum();
    const missing = [];
    const from = this.roundStart[this.tokensBefore.length - 1] ?? this.items.length;
    for (let i = from; i < this.items.length; i++) if (this.isUncounted(this.items[i])) missing.push(this.items[i]);
    if (this.newestSum !== void 0) return missing;
    const newest = this.newestRound().filter(this.isUncounted);
    return newest.length === 0 ? missing : [...missing, ...this.newestItems(newest)];
  }
  /** Sequence number of the first message of the newest round: moves when a round begins. */
  get newestBegins() {
    return this.raws[this.newestRaw]?.sequence ?? -1;
  }
  /** Rounds that limits count. */
  get rounds() {
    return this.settledRounds + (this.newestCounts ? 1 : 0);
  }
  /** Tokens of all messages, as far as they are counted; what is free of charge is left out. */
  get tokens() {
    this.sum();
    const summed = this.tokensBefore.length - 1;
    let tokens = this.tokensBefore[summed] + this.pinnedTokens + this.newestTokens();
    const from = this.roundStart[summed] ?? this.items.length;
    for (let i = from; i < this.items.length; i++) tokens += this.charge(this.items[i].message);
    return tokens;
  }
  /** Number of messages in the repaired form. */
  get size() {
    return this.items.length + this.newestRound().length;
  }
  /** Everything, in order. */
  all() {
    const out = new Array(this.items.length);
    for (let i = 0; i < out.length; i++) out[i] = this.items[i].message;
    for (const { message: message2 } of this.newestRound()) out.push(message2);
    return out;
  }
  /** What the plain window keeps, pinned items, then everything from the first kept round on, and its tokens. */
  window(limits, overhead, target) {
    const tokens = this.tokens + overhead;
    const excess = stepped(
      { tokens: tokens - limits.tokens, rounds: this.rounds - limits.rounds },
      limits,
      target
    );
    const droppable = this.newestRound().length > 0 ? this.roundStart.length : this.roundStart.length - 1;
    const first = firstKept(this.tokensBefore, this.roundsBefore, droppable, excess);
    const from = this.roundStart[first] ?? this.items.length;
    const messages = [];
    for (let i = 0; i < this.pins.length && this.pins[i] < from; i++) messages.push(this.items[this.pins[i]].message);
    for (let i = from; i < this.items.length; i++) messages.push(this.items[i].message);
    for (const { message: message2 } of this.newestRound()) messages.push(message2);
    return { messages, tokens: tokens - this.tokensBefore[first] };
  }
  /** All items, in order. A copy. */
  snapshot() {
    const out = [];
    this.roundStart.forEach((start2, round) => {
      const end = this.roundStart[round + 1] ?? this.items.length;
      const counted = !this.roundPreamble[round];
      for (let i = start2; i < end; i++) out.push(this.toItem(this.items[i], round, counted));
    });
    for (const item of this.newestItems()) out.push(this.toItem(item, this.roundStart.length, this.newestCounts));
    return out;
  }
  toItem(item, round, counted) {
    return { ...item, tokens: this.charge(item.message), round, counted };
  }
  /** What must stay under the plain window, in tokens. */
  floor(overhead) {
    let system2 = 0;
    let summary = 0;
    let pinned = 0;
    let newest = this.newestTokens();
    const from = this.newestRound().length > 0 ? this.items.length : this.roundStart.at(-1) ?? 0;
    for (const i of this.pins) {
      if (i >= from) break;
      const item = this.items[i];
      const tokens = this.charge(item.message);
      if (item.sequence < 0) summary += tokens;
      else if (item.protected) pinned += tokens;
      else system2 += tokens;
    }
    for (let i = from; i < this.items.length; i++) newest += this.charge(this.items[i].message);
    return {
      overhead,
      system: system2,
      protected: pinned,
      summary,
      newest,
      total: overhead + system2 + pinned + summary + newest
    };
  }
  /** How many messages the repaired form leaves out, rewrites or adds. */
  repairs() {
    const newest = this.newestRound();
    const isAsRecorded = newest.length === this.raws.length - this.newestRaw && newest.every(({ message: message2 }, i) => message2 === this.raws[this.newestRaw + i].message);
    if (isAsRecorded) return this.settledRepairs;
    let changed = this.settledRepairs;
    const recorded = /* @__PURE__ */ new Set();
    for (const { message: message2, source } of newest) {
      if (message2 !== this.raws[this.newestRaw + source].message) changed++;
      recorded.add(source);
    }
    return changed + (this.raws.length - this.newestRaw - recorded.size);
  }
  isUncounted = ({ message: message2 }) => !this.counts.has(message2);
  get newestCounts() {
    return !this.newestPreamble && this.newestRound().length > 0;
  }
  newestTokens() {
    if (this.newestSum !== void 0) return this.newestSum;
    let sum2 = 0;
    for (const { message: message2 } of this.newestRound()) sum2 += this.charge(message2);
    if (!this.newestRound().some(this.isUncounted)) this.newestSum = sum2;
    return sum2;
  }
  charge(message2) {
    return this.options.system === "free" && message2.role === "system" ? 0 : this.counts.get(message2) ?? 0;
  }
  /** Repaired form of the newest round. Where nothing is left of it, the round before it is the newest. */
  newestRound() {
    this.newest ??= this.repaired(this.newestMessages(), 0, this.raws.length - this.newestRaw, false);
    return this.newest;
  }
  newestItems(of2 = this.newestRound()) {
    const isProtected = this.isProtected(0, this.raws.length - this.newestRaw);
    return this.toItems(of2, this.newestPreamble, isProtected);
  }
  newestMessages() {
    return this.raws.slice(this.newestRaw).map((raw) => raw.message);
  }
  /** Repaired form of a part of the newest round; indices are relative to it. */
  repaired(messages, start2, end, settled) {
    if (!this.options.repair) return messages.slice(start2, end).map((message2, i) => ({ message: message2, source: start2 + i }));
    const used = settled ? this.usedIds : new Overlay(this.usedIds);
    return this.reuse(messages, repairRound(messages, this.pairing, { start: start2, end }, settled, used));
  }
  reuse(messages, repaired) {
    return repaired.map((item) => {
      const { message: message2, source } = item;
      const raw = messages[source];
      if (message2 === raw) return item;
      const forms = this.forms.get(raw) ?? /* @__PURE__ */ new Map();
      const former = forms.get(formOf(message2));
      if (former !== void 0 && sameMessage(former, message2)) return { message: former, source };
      this.forms.set(raw, forms.set(formOf(message2), message2));
      return { message: message2, source };
    });
  }
  isProtected(start2, end) {
    for (let i = start2; i < end; i++) if (this.raws[this.newestRaw + i].protected) return true;
    return false;
  }
  toItems(repaired, preamble, isProtected) {
    return repaired.map(({ message: message2, source }) => {
      const raw = this.raws[this.newestRaw + source];
      const system2 = message2.role === "system" && (this.options.system === "free" || this.options.system === "keep" && preamble);
      return {
        message: message2,
        sequence: raw.sequence,
        // What stands for others is merged into what comes next, wherever it stands.
        protected: isProtected && raw.sequence >= 0,
        pinned: isProtected || raw.sequence < 0 || system2,
        verbatim: message2 === raw.message
      };
    });
  }
  settle(messages, start2, end) {
    const protectedRound = this.isProtected(start2, end);
    const repaired = this.repaired(messages, start2, end, true);
    this.settledRepairs += end - start2 - new Set(repaired.map(({ source }) => source)).size;
    if (repaired.length === 0) return;
    this.roundStart.push(this.items.length);
    this.roundPreamble.push(this.newestPreamble);
    if (!this.newestPreamble) this.settledRounds++;
    this.roundProtected.push(protectedRound);
    for (const item of this.toItems(repaired, this.newestPreamble, protectedRound)) {
      if (item.pinned) this.pins.push(this.items.length);
      if (!item.verbatim) this.settledRepairs++;
      this.items.push(item);
    }
  }
  /** Extends the sums over rounds that have been settled and counted since. */
  sum() {
    for (let round = this.tokensBefore.length - 1; round < this.roundStart.length; round++) {
      const end = this.roundStart[round + 1] ?? this.items.length;
      let tokens = 0;
      for (let i = this.roundStart[round]; i < end; i++) if (!this.counts.has(this.items[i].message)) return;
      for (let i = this.roundStart[round]; i < end; i++) {
        if (this.items[i].pinned) this.pinnedTokens += this.charge(this.items[i].message);
        else tokens += this.charge(this.items[i].message);
      }
      const counts = !this.roundPreamble[round];
      this.tokensBefore.push(this.tokensBefore[round] + tokens);
      this.roundsBefore.push(this.roundsBefore[round] + (counts && !this.roundProtected[round] ? 1 : 0));
    }
  }
};
var inertIfStandIn = (raw) => raw.sequence < 0 && raw.message.role === "user" ? system("") : raw.message;
var Overlay = class {
  constructor(below) {
    this.below = below;
  }
  below;
  above;
  has(id) {
    return this.above?.has(id) === true || this.below.has(id);
  }
  add(id) {
    this.above = (this.above ?? /* @__PURE__ */ new Set()).add(id);
  }
};

// src/TokenCounter.ts
import * as Context from "effect/Context";
import * as Effect10 from "effect/Effect";
import * as Exit3 from "effect/Exit";
import { dual } from "effect/Function";
import * as Layer from "effect/Layer";
import * as Ref3 from "effect/Ref";

// src/internal/characters.ts
var isIdeograph = (codePoint) => codePoint >= 19968 && codePoint <= 40959 || codePoint >= 13312 && codePoint <= 19903 || codePoint >= 63744 && codePoint <= 64255 || codePoint >= 131072 && codePoint <= 195103;
var countCharacters = (text2) => {
  let ideographs = 0;
  let others = 0;
  for (let i = 0; i < text2.length; i++) {
    const unit = text2.charCodeAt(i);
    if (unit < 13312) {
      others++;
      continue;
    }
    const codePoint = text2.codePointAt(i);
    if (codePoint > 65535) i++;
    if (isIdeograph(codePoint)) ideographs++;
    else others++;
  }
  return ideographs + Math.ceil(others / 4);
};

// src/TokenCounter.ts
var TokenCounter = class extends Context.Tag("effect-memory/TokenCounter")() {
};
var checked = (id, tokens) => isCount(tokens) ? Exit3.succeed(Math.ceil(tokens)) : notACount(id, tokens);
var textsOf = (message2) => message2.role === "system" ? [message2.content] : message2.content.flatMap((part) => {
  switch (part.type) {
    case "text":
    case "reasoning":
      return [part.text];
    case "tool-call":
      return [part.name, stringify(part.params)];
    case "tool-result":
      return [stringify(part.result)];
    case "file":
      return [];
  }
});
var make13 = (options2) => {
  const { countFile = () => 1e3, id, messageOverhead = 0, overhead = 0 } = options2;
  const overheadOf = typeof messageOverhead === "number" ? () => messageOverhead : messageOverhead;
  const count = (text2) => chain(options2.count(text2), (tokens) => checked(id, tokens));
  const countFiles = (message2) => message2.role === "user" || message2.role === "assistant" ? message2.content.reduce((sum2, part) => part.type === "file" ? sum2 + countFile(part) : sum2, 0) : 0;
  return {
    id,
    overhead,
    count,
    countMessage: (message2) => textsOf(message2).reduce(
      (sum2, text2) => chain(sum2, (before) => chain(count(text2), (tokens) => checked(id, before + tokens))),
      checked(id, overheadOf(message2) + countFiles(message2))
    )
  };
};
var characters = make13({
  id: "characters",
  count: (text2) => Exit3.succeed(countCharacters(text2))
});
var mapConversation = ({ countConversation }, f) => countConversation === void 0 ? void 0 : (messages) => f(countConversation(messages), messages);
var retry2 = dual(2, (self, policy) => ({
  ...self,
  count: (text2) => Effect10.retry(self.count(text2), policy),
  countMessage: (message2) => Effect10.retry(self.countMessage(message2), policy),
  countConversation: mapConversation(self, (counted) => Effect10.retry(counted, policy))
}));
var orElse = dual(2, (self, fallback) => ({
  ...self,
  overhead: Math.max(self.overhead, fallback.overhead),
  count: (text2) => Effect10.catchAll(self.count(text2), () => fallback.count(text2)),
  countMessage: (message2) => Effect10.catchAll(self.countMessage(message2), () => fallback.countMessage(message2)),
  // Without an exact count of the fallback, a memory goes by the sum and the margin.
  countConversation: mapConversation(
    self,
    (counted, messages) => Effect10.catchAll(counted, (error) => fallback.countConversation?.(messages) ?? Effect10.fail(error))
  )
}));
var verified = dual(2, (remote, { local, margin }) => ({
  ...local,
  countConversation: remote.countConversation,
  margin
}));
var layerCharacters = Layer.succeed(TokenCounter, characters);
var TestCalls = class extends Context.Tag("effect-memory/TokenCounter/TestCalls")() {
};

// src/TrimStrategy.ts
import * as Context2 from "effect/Context";
import * as Effect11 from "effect/Effect";
import * as Layer2 from "effect/Layer";
import * as Ref4 from "effect/Ref";

// src/internal/repairRun.ts
var finish = ({ messages, source }, rules) => {
  const [first] = messages;
  if (first.role === "system") return { message: first, source };
  const message2 = messages.length === 1 ? first : merge(messages, first);
  if (message2.role !== "assistant") return { message: message2, source };
  const content = bound(ordered(message2.content, rules), rules);
  return { message: content === message2.content ? message2 : { ...message2, content }, source };
};
var merge = (messages, first) => ({
  ...first,
  content: messages.flatMap((message2) => message2.content),
  options: mergeOptions(messages)
});
var mergeOptions = (messages) => {
  const all2 = messages.flatMap(({ options: options2 }) => Object.entries(options2));
  const others = all2.filter(([provider]) => provider !== namespace);
  return Object.fromEntries(
    messages.every(isStandIn) ? [...others, [
      namespace,
      Object.fromEntries(messages.flatMap(({ options: options2 }) => Object.entries(options2[namespace] ?? {})))
    ]] : others
  );
};
var ordered = (parts2, rules) => {
  const firstCall = parts2.findIndex(isOwed);
  if (firstCall < 0 || !asks(rules, "TextAfterCall")) return parts2;
  const early = [];
  const late = [];
  let target = late;
  for (let i = parts2.length - 1; i >= firstCall; i--) {
    if (parts2[i].type !== "reasoning") target = isText(parts2[i]) ? early : late;
    target.push(parts2[i]);
  }
  return early.length === 0 ? parts2 : [...parts2.slice(0, firstCall), ...early.reverse(), ...late.reverse()];
};
var bound = (parts2, rules) => {
  const end = boundEnd(parts2);
  return end === parts2.length || !asks(rules, "LooseReasoning") ? parts2 : parts2.slice(0, end);
};

// src/internal/repairProvider.ts
var opening = "Continue.";
var repairContext = (messages, rules) => {
  if (rules === "pairing") return messages.map((message2, source) => ({ message: message2, source }));
  const body = messages.findIndex((message2) => message2.role !== "system");
  const end = body < 0 ? messages.length : body;
  const head = messages.slice(0, end).map((message2, source) => ({ message: message2, source }));
  const runs = new Runs(rules);
  for (const { message: message2, source } of split(messages, end, rules)) runs.push(message2, source);
  return trimEnd(withUserFirst(head, runs.finished(), rules), rules);
};
var split = (messages, start2, rules) => {
  const out = [];
  let files;
  const pushFiles = () => {
    if (files !== void 0) out.push(files);
    files = void 0;
  };
  for (let source = start2; source < messages.length; source++) {
    const message2 = messages[source];
    if (message2.role !== "tool") pushFiles();
    if (message2.role === "system" && asks(rules, "SystemNotFirst")) {
      out.push({ message: fromSystem(message2), source });
    } else if (message2.role === "assistant") {
      const { moved, own, results } = splitAssistant(message2, rules);
      if (own.content.length > 0) out.push({ message: own, source });
      if (results.length > 0) out.push({ message: tool(results), source });
      if (moved.length > 0) files = { message: user(moved, make2("context", "file")), source };
    } else {
      out.push({ message: message2, source });
    }
  }
  pushFiles();
  return out;
};
var fromSystem = (message2) => user(message2.content, {
  ...message2.options,
  [namespace]: { ...message2.options[namespace], context: "system" }
});
var splitAssistant = (message2, rules) => {
  const takesFiles = !asks(rules, "FileInAssistant");
  const takesResults = !asks(rules, "ResultInAssistant");
  const takesText = !asks(rules, "PartialArguments");
  const moved = [];
  const results = [];
  const content = [];
  let changed = false;
  for (const part of message2.content) {
    if (part.type === "file" && !takesFiles) moved.push(part);
    else if (isOwnResult(part) && !takesResults) results.push(part);
    else if (part.type === "tool-call" && !takesText && !isObject(part.params)) {
      content.push({ ...part, params: asObject(part.params) });
      changed = true;
    } else content.push(part);
  }
  const same = !changed && content.length === message2.content.length;
  return { own: same ? message2 : { ...message2, content }, results, moved };
};
var asObject = (params) => params === null || params === "" ? {} : { input: params };
var Runs = class {
  constructor(rules) {
    this.rules = rules;
    this.alternating = asks(rules, "RolesNotAlternating");
    this.binding = asks(rules, "LooseReasoning");
  }
  rules;
  runs = [];
  alternating;
  binding;
  push(message2, source) {
    if (!this.joins(message2)) this.dropLoose();
    if (this.joins(message2)) this.runs[this.runs.length - 1].messages.push(message2);
    else this.runs.push({ messages: [message2], source });
  }
  finished() {
    this.dropLoose();
    return this.runs.map((run) => finish(run, this.rules));
  }
  /** Whether a message belongs to the last run: by its role, or because reasoning there still waits for what it led to. */
  joins(message2) {
    const last = this.runs.at(-1)?.messages.at(-1);
    if (last === void 0 || last.role !== message2.role || last.role === "system") return false;
    return this.alternating || this.binding && last.role === "assistant" && last.content.at(-1)?.type === "reasoning";
  }
  /** Reasoning that led to nothing goes, before what stands around it meets. */
  dropLoose() {
    const last = this.runs.at(-1);
    const loose = this.binding && last?.messages.every(
      (message2) => message2.role === "assistant" && message2.content.every((part) => part.type === "reasoning")
    );
    if (loose) this.runs.pop();
  }
};
var withUserFirst = (head, body, rules) => {
  if (!needsUser(head, body, rules)) return [...head, ...body];
  const summaries = head.filter(({ message: message2 }) => isSummary(message2));
  if (summaries.length === 0) {
    return [...head, { message: user(opening, make2("context", "inserted")), source: -1 }, ...body];
  }
  const run = {
    messages: summaries.map(
      ({ message: message2 }) => user(parts(message2), message2.options)
    ),
    source: summaries[0].source
  };
  return [...head.filter(({ message: message2 }) => !isSummary(message2)), finish(run, rules), ...body];
};
var needsUser = (head, body, rules) => {
  if (body.length === 0) return head.length > 0 && asks(rules, "NoUser");
  const first = body[0].message;
  if (first.role === "user") return false;
  return asks(rules, "FirstNotUser") || asks(rules, "CallNotAfterUser") && toolCalls(first).length > 0 || asks(rules, "NoUser") && !body.some(({ message: message2 }) => message2.role === "user");
};
var trimEnd = (messages, rules) => {
  const last = messages.at(-1);
  if (last?.message.role !== "assistant" || !asks(rules, "TrailingWhiteSpace")) return messages;
  const { message: message2 } = last;
  const part = message2.content.at(-1);
  if (part?.type !== "text" || part.text === part.text.trimEnd()) return messages;
  const content = [...message2.content.slice(0, -1), { ...part, text: part.text.trimEnd() }];
  return [...messages.slice(0, -1), { message: { ...message2, content }, source: last.source }];
};

// src/TrimStrategy.ts
var TrimStrategy = class extends Context2.Tag("effect-memory/TrimStrategy")() {
};
var keeping = (input, kept, strategy) => {
  const stays = new Set(kept);
  return {
    messages: kept.map((i) => input.messages[i]),
    origin: kept,
    replace: false,
    actions: input.messages.flatMap(
      (_, index) => stays.has(index) ? [] : [{ index, strategy, action: "left out" }]
    )
  };
};
var projecting = (trim, options2) => ({
  trim,
  project: trim,
  plan: trim,
  ...options2
});
var windowDrop2 = (options2 = {}) => {
  const system2 = options2.system ?? "keep";
  return projecting(
    (input) => Effect11.map(
      resolve(options2.target, input.budget),
      (to) => keeping(input, windowDrop(input, system2, to), "windowDrop")
    ),
    // An invalid target is reported by the strategy, which the memory then has to ask.
    { system: system2, [WindowOptions]: isTarget(options2.target) ? { system: system2, target: options2.target } : void 0 }
  );
};
var truncate2 = (options2 = {}) => projecting(
  (input) => Effect11.map(
    resolve(options2.target, input.budget),
    (to) => keeping(input, truncate(input, "free", to), "truncate")
  ),
  { system: "free" }
);
var layerWindowDrop = Layer2.sync(TrimStrategy, () => windowDrop2());
var layerTruncate = Layer2.sync(TrimStrategy, () => truncate2());
var TestInputs = class extends Context2.Tag("effect-memory/TrimStrategy/TestInputs")() {
};

// src/Memory.ts
var Memory_exports = {};
__export(Memory_exports, {
  Memory: () => Memory,
  layer: () => layer,
  layerConfig: () => layerConfig,
  layerUnbounded: () => layerUnbounded,
  layerWindow: () => layerWindow,
  make: () => make28
});
import * as Config from "effect/Config";
import * as Context5 from "effect/Context";
import * as Duration2 from "effect/Duration";
import * as Effect20 from "effect/Effect";
import * as Layer4 from "effect/Layer";
import * as Metric4 from "effect/Metric";
import * as Ref9 from "effect/Ref";

// src/internal/billing.ts
import * as Effect12 from "effect/Effect";
import * as Ref5 from "effect/Ref";
var steps = 64;
var make17 = Effect12.fnUntraced(function* (budget, calibration) {
  if (calibration === void 0) {
    return { budget, counted: () => Effect12.void, billed: () => Effect12.void, forget: Effect12.void };
  }
  const counted = yield* Ref5.make(void 0);
  const last = yield* Ref5.make(void 0);
  const translated = yield* Ref5.make(
    void 0
  );
  const translate = Effect12.fnUntraced(function* () {
    const base = yield* budget;
    if (base.maxTokens === void 0) return base;
    const limit2 = yield* calibration.limit(yield* Ref5.get(last), base.maxTokens);
    if (limit2 === base.maxTokens) return base;
    const step = Math.max(1, Math.floor(base.maxTokens / steps));
    const maxTokens2 = Math.floor(limit2 / step) * step;
    return yield* Ref5.modify(translated, (known) => {
      const now = known?.base === base && known.budget.maxTokens === maxTokens2 ? known : { base, budget: { ...base, maxTokens: maxTokens2 } };
      return [now.budget, now];
    });
  });
  const billed = Effect12.fnUntraced(function* (tokens) {
    const context = yield* Ref5.get(counted);
    if (context === void 0 || !Number.isFinite(tokens) || tokens <= 0) return;
    const now = { counted: context, billed: tokens };
    const before = yield* Ref5.getAndSet(last, now);
    yield* calibration.observe(before, now);
  });
  return {
    budget: translate(),
    counted: (tokens) => Ref5.set(counted, tokens),
    billed,
    forget: Effect12.zipRight(Ref5.set(last, void 0), Ref5.set(counted, void 0))
  };
});

// src/internal/events.ts
import * as Effect13 from "effect/Effect";
import * as MutableRef from "effect/MutableRef";
import * as PubSub from "effect/PubSub";
import * as Stream from "effect/Stream";
var capacity = 256;
var make19 = Effect13.map(
  Effect13.acquireRelease(PubSub.sliding(capacity), PubSub.shutdown),
  (events) => {
    const listeners = MutableRef.make(0);
    const listening = Effect13.acquireRelease(
      Effect13.sync(() => MutableRef.increment(listeners)),
      () => Effect13.sync(() => MutableRef.decrement(listeners))
    );
    return {
      publish: (event) => MutableRef.get(listeners) === 0 ? Effect13.void : PubSub.publish(events, event()),
      stream: Stream.unwrapScoped(Effect13.as(listening, Stream.fromPubSub(events)))
    };
  }
);

// src/internal/presenter.ts
import * as Effect14 from "effect/Effect";
import * as Ref6 from "effect/Ref";
var attempts = 4;
var make21 = Effect14.fnUntraced(function* (trimmer, session, rules) {
  const { counter: counter2 } = session;
  const previous = yield* Ref6.make([]);
  const repair = Effect14.fnUntraced(function* (fitted) {
    const repaired = reuse(yield* Ref6.get(previous), repairContext(fitted.messages, rules));
    yield* Ref6.set(previous, repaired);
    const messages = repaired.map(({ message: message2 }) => message2);
    const known = new Set(fitted.messages);
    const changed = messages.filter((message2) => !known.has(message2));
    if (changed.length === 0 && messages.length === fitted.messages.length) return fitted;
    yield* countAll(counter2, messages);
    return { ...fitted, messages, tokens: trimmer.tokensOf(messages) };
  });
  const present = (reserve, left, whole) => Effect14.flatMap(trimmer.fit(reserve), (fitted) => Effect14.flatMap(repair(fitted), (repaired) => {
    const budget = whole ?? fitted.budget;
    const over = repaired.tokens - (budget.maxTokens ?? Infinity);
    return over > 0 && left > 1 && fitted.tokens <= (fitted.budget.maxTokens ?? Infinity) ? present(reserve + over, left - 1, budget) : Effect14.succeed({ ...repaired, budget });
  }));
  return rules === "pairing" ? trimmer.fit : (reserve) => present(reserve, attempts, void 0);
});

// src/internal/session.ts
import * as Effect16 from "effect/Effect";
import * as Either2 from "effect/Either";
import * as Hash from "effect/Hash";
import * as Random from "effect/Random";
import * as Ref7 from "effect/Ref";

// src/internal/lock.ts
import * as Deferred2 from "effect/Deferred";
import * as Effect15 from "effect/Effect";
import * as FiberId from "effect/FiberId";
var make22 = Effect15.sync(() => {
  let held = false;
  const waiting = /* @__PURE__ */ new Set();
  const release = () => {
    const [next] = waiting;
    if (next === void 0) {
      held = false;
    } else {
      waiting.delete(next);
      Deferred2.unsafeDone(next, Effect15.void);
    }
  };
  const turn = (restore) => Effect15.suspend(() => {
    const mine = Deferred2.unsafeMake(FiberId.none);
    waiting.add(mine);
    return Effect15.tapErrorCause(restore(Deferred2.await(mine)), () => Effect15.sync(() => {
      if (!waiting.delete(mine)) release();
    }));
  });
  const holding = (body) => Effect15.matchCauseEffect(body, {
    onFailure: (cause) => Effect15.suspend(() => {
      release();
      return Effect15.failCause(cause);
    }),
    onSuccess: (a) => Effect15.sync(() => {
      release();
      return a;
    })
  });
  return (body) => Effect15.uninterruptibleMask((restore) => {
    const run = holding(body(restore));
    if (held) return Effect15.zipRight(turn(restore), run);
    held = true;
    return run;
  });
});

// src/internal/session.ts
var mostNow = 16;
var writeAttempts = 100;
var untilNoConflict = (write, attempts2 = writeAttempts) => Effect16.catchAll(
  write,
  (error) => error.reason === "conflict" && attempts2 > 1 ? untilNoConflict(write, attempts2 - 1) : Effect16.fail(error)
);
var viewOf = (entries, compaction, options2, known) => {
  const view = new View(options2, known.counts, known.forms);
  let standIns = compaction?.messages ?? [];
  const placeStandIns = () => {
    for (const message2 of standIns) view.append({ message: message2, sequence: -1, protected: false });
    standIns = [];
  };
  for (const entry of entries) {
    if (compaction !== void 0 && entry.sequence > compaction.from) placeStandIns();
    view.append(entry);
  }
  placeStandIns();
  return view;
};
var make24 = Effect16.fnUntraced(function* (options2) {
  const { id, store } = options2;
  const counts = /* @__PURE__ */ new WeakMap();
  const known = { counts, forms: /* @__PURE__ */ new WeakMap() };
  const counter2 = remembering(options2.counter, counts);
  const state = yield* Ref7.make({
    loaded: void 0,
    version: 0
  });
  const writing = yield* make22;
  const counting = yield* Effect16.makeSemaphore(1);
  const drawn = `${yield* Random.nextIntBetween(0, 2 ** 31)}-${yield* Random.nextIntBetween(0, 2 ** 31)}`;
  const origin = `${drawn}-${Hash.random(counts)}`;
  const set7 = (fresh) => Ref7.modify(state, ({ version }) => {
    const loaded = { ...fresh, version: version + 1 };
    return [loaded, { loaded, version: version + 1 }];
  });
  const forget = Ref7.update(state, ({ version }) => ({ loaded: void 0, version: version + 1 }));
  const reload = Effect16.gen(function* () {
    const snapshot = yield* store.load(id);
    const saved = snapshot.counts.get(counter2.id);
    for (const { message: message2, sequence } of snapshot.entries) {
      const tokens = saved?.get(sequence);
      if (tokens !== void 0) counts.set(message2, tokens);
    }
    return yield* set7({
      view: viewOf(snapshot.entries, snapshot.compaction, options2.view, known),
      revision: snapshot.revision,
      nextSequence: snapshot.nextSequence,
      compaction: snapshot.compaction
    });
  });
  const withLoaded = (restore, f) => Effect16.flatMap(
    Ref7.get(state),
    ({ loaded }) => loaded === void 0 ? Effect16.flatMap(restore(reload), f) : f(loaded)
  );
  const load = writing((restore) => withLoaded(restore, Effect16.succeed));
  const read = (f) => Effect16.flatMap(
    Ref7.get(state),
    ({ loaded }) => loaded !== void 0 ? Effect16.succeed(f(loaded)) : Effect16.zipRight(load, read(f))
  );
  const save = (counted) => {
    const saved = /* @__PURE__ */ new Map();
    for (const { message: message2, sequence, verbatim } of counted) {
      const tokens = counts.get(message2);
      if (tokens !== void 0 && verbatim && sequence >= 0) saved.set(sequence, tokens);
    }
    return saved.size === 0 ? Effect16.void : Effect16.ignoreLogged(store.saveCounts(id, counter2.id, saved));
  };
  const countMissing = Effect16.gen(function* () {
    const missing = yield* read(({ view }) => view.uncounted());
    const counted = yield* Effect16.either(countAll(counter2, Array.from(new Set(missing.map(({ message: message2 }) => message2)))));
    yield* save(missing);
    if (Either2.isLeft(counted)) return yield* counted.left;
  }).pipe(counting.withPermits(1));
  const isCountedNow = (missing) => missing.length <= mostNow && missing.every(({ message: message2 }) => answerOf(counter2.countMessage(message2)) !== void 0);
  const readCounted = (f) => Effect16.flatMap(Ref7.get(state), ({ loaded }) => {
    if (loaded === void 0) return Effect16.zipRight(countMissing, readCounted(f));
    const missing = loaded.view.uncounted();
    if (missing.length === 0) return Effect16.succeed(f(loaded));
    return isCountedNow(missing) ? Effect16.as(save(missing), f(loaded)) : save(missing).pipe(Effect16.zipRight(countMissing), Effect16.zipRight(readCounted(f)));
  });
  const write = (restore, operation) => withLoaded(restore, (loaded) => {
    const { apply, store: store2 } = operation(loaded);
    return Effect16.matchCauseEffect(restore(store2), {
      onFailure: (cause) => Effect16.zipRight(forget, Effect16.failCause(cause)),
      onSuccess: apply
    });
  });
  const appendOnce = (restore, messages, isProtected, recordedAt) => write(restore, (loaded) => {
    const { nextSequence, version } = loaded;
    const entries = messages.map((message2, i) => ({
      sequence: nextSequence + i,
      // The version moves with every write, also with one that failed: no other entry is called the same.
      id: `${origin}-${version}-${i}`,
      message: message2,
      protected: isProtected,
      recordedAt
    }));
    return {
      store: store.append(id, nextSequence, entries),
      apply: (revision) => {
        if (revision !== loaded.revision) return forget;
        for (const entry of entries) loaded.view.append(entry);
        return set7({ ...loaded, nextSequence: nextSequence + entries.length });
      }
    };
  });
  const append = (messages, isProtected) => Effect16.clockWith((clock) => {
    const recordedAt = clock.unsafeCurrentTimeMillis();
    return writing((restore) => untilNoConflict(appendOnce(restore, messages, isProtected, recordedAt)));
  });
  const compact = (decide) => writing(
    (restore) => untilNoConflict(
      Effect16.flatMap(
        withLoaded(restore, (loaded) => restore(decide(loaded))),
        (decision) => decision === void 0 ? Effect16.succeed(false) : Effect16.as(commit(restore, decision.compaction), true)
      )
    )
  );
  const commit = (restore, compaction) => write(restore, (loaded) => ({
    store: store.compact(id, loaded.revision, compaction),
    // What was covered before stands in no view: where it comes back, it is loaded.
    apply: (revision) => compaction === void 0 ? forget : set7({
      ...loaded,
      revision,
      compaction,
      view: viewOf(uncovered(loaded.view.raws, compaction), compaction, options2.view, known)
    })
  }));
  const clear = writing((restore) => Effect16.ensuring(restore(Effect16.suspend(() => store.clear(id))), forget));
  return {
    counter: counter2,
    counts,
    append,
    read,
    readCounted,
    compact,
    clear
  };
});
var uncovered = (raws, compaction) => {
  const keep = new Set(compaction.keep);
  return raws.filter(
    ({ sequence }) => sequence >= 0 && (sequence < compaction.from || sequence >= compaction.upTo || keep.has(sequence))
  );
};

// src/internal/span.ts
import * as Context3 from "effect/Context";
import * as DefaultServices from "effect/DefaultServices";
import * as Effect17 from "effect/Effect";
import * as Tracer from "effect/Tracer";
var defaultTracer = Context3.get(DefaultServices.liveServices, Tracer.Tracer);
var spanned = (self, name, attributes, describe2) => Effect17.withFiberRuntime(({ currentSpan, currentTracer }) => {
  if (currentTracer === defaultTracer && currentSpan === void 0) return self;
  const described = describe2 === void 0 ? self : Effect17.tap(self, (a) => Effect17.annotateCurrentSpan(describe2(a)));
  return Effect17.withSpan(described, name, { captureStackTrace: false, attributes });
});

// src/internal/verifier.ts
import * as Effect18 from "effect/Effect";
import * as Ref8 from "effect/Ref";
var defaultMargin = 0.25;
var make26 = Effect18.fnUntraced(function* (present, session, budget, failed) {
  const { counter: counter2, counts } = session;
  const { countConversation, margin = defaultMargin } = counter2;
  if (countConversation === void 0) return present(0);
  const state = yield* Ref8.make({ last: void 0, failing: false, decision: void 0 });
  const deciding = yield* Effect18.makeSemaphore(1);
  const ask = ({ messages, tokens }, upper) => Effect18.suspend(() => countConversation(messages)).pipe(
    Effect18.filterOrElse(isCount, (exact) => notACount(counter2.id, exact)),
    Effect18.tap(
      (exact) => Ref8.update(state, (now) => ({ ...now, last: { messages: messages.slice(), tokens, exact }, failing: false }))
    ),
    Effect18.catchAll(
      (error) => Effect18.zipRight(failed(error), Effect18.as(Ref8.update(state, (now) => ({ ...now, failing: true })), upper))
    )
  );
  const judge = (limit2, reserve, candidate, exact) => exact <= limit2 ? { reserve, exact, candidate } : { reserve: limit2 - allowed(limit2, { tokens: candidate.tokens, exact }, margin), exact: void 0 };
  const settle3 = Effect18.fnUntraced(function* (limit2, reserve, candidate, bounds) {
    if (bounds.upper <= limit2) return judge(limit2, reserve, candidate, bounds.upper);
    const exact = bounds.lower > limit2 ? bounds.upper : yield* ask(candidate, bounds.upper);
    return judge(limit2, reserve, candidate, exact);
  });
  const probe = Effect18.fnUntraced(function* (limit2, known) {
    const most = Math.floor(Math.min(limit2 / (1 + margin), known === void 0 ? limit2 : allowed(limit2, known, margin)));
    const candidate = yield* present(limit2 - most);
    const upper = Math.min(limit2, candidate.tokens * (1 + margin));
    return judge(limit2, limit2 - most, candidate, yield* ask(candidate, upper));
  });
  const decide = Effect18.fnUntraced(function* (view, limit2) {
    const { failing, last } = yield* Ref8.get(state);
    if (view / (1 + margin) <= limit2) {
      const reserve2 = Math.min(0, limit2 - view);
      const whole = yield* present(reserve2);
      const bounds = boundsOf(whole, last, counts, margin);
      if (bounds.lower <= limit2) return yield* settle3(limit2, reserve2, whole, bounds);
    }
    if (failing) return yield* probe(limit2, last);
    const reserve = last === void 0 ? 0 : limit2 - allowed(limit2, last, margin);
    const trimmed = yield* present(reserve);
    return yield* settle3(limit2, reserve, trimmed, boundsOf(trimmed, last, counts, margin));
  });
  const foundFor = Effect18.fnUntraced(function* (version, view, limit2) {
    const { decision } = yield* Ref8.get(state);
    if (decision?.version === version && decision.limit === limit2) return decision.found;
    const { candidate, ...found } = yield* decide(view, limit2);
    yield* Ref8.update(state, (now) => ({ ...now, decision: { version, limit: limit2, found } }));
    return { ...found, candidate };
  });
  const verify = Effect18.gen(function* () {
    const { version, view } = yield* session.readCounted(({ version: version2, view: view2 }) => ({
      version: version2,
      view: view2.tokens + counter2.overhead
    }));
    const limit2 = (yield* budget).maxTokens;
    if (limit2 === void 0 || view * (1 + margin) <= limit2) return yield* present(0);
    const found = yield* deciding.withPermits(1)(foundFor(version, view, limit2));
    const fitted = found.candidate ?? (yield* present(found.reserve));
    if (fitted.view.tokens * (1 + margin) <= limit2) return yield* verify;
    return found.exact === void 0 ? fitted : { ...fitted, tokens: Math.ceil(found.exact), budget: { ...fitted.budget, maxTokens: limit2 } };
  });
  return verify;
});
var boundsOf = ({ messages, tokens }, known, counts, margin) => {
  if (known !== void 0) {
    const differs = (a, b) => a.reduce((sum2, message2) => b.has(message2) ? sum2 : sum2 + (counts.get(message2) ?? 0), 0);
    const added = differs(messages, new Set(known.messages));
    const removed = differs(known.messages, new Set(messages));
    const changed = added + removed;
    const expected2 = known.exact + tokens - known.tokens;
    if (changed < tokens) {
      return { lower: known.exact + added / (1 + margin) - removed * (1 + margin), upper: expected2 + margin * changed };
    }
  }
  return { lower: tokens / (1 + margin), upper: tokens * (1 + margin) };
};
var allowed = (limit2, { exact, tokens }, margin) => {
  if (exact <= 0) return limit2;
  const share = limit2 * tokens / exact;
  return Math.floor(Math.min(share, Math.max(limit2 - (exact - tokens), limit2 / (1 + margin))));
};

// src/MemoryStore.ts
import * as Context4 from "effect/Context";
import * as Effect19 from "effect/Effect";
import * as Layer3 from "effect/Layer";
import * as Option2 from "effect/Option";
import * as Schema4 from "effect/Schema";
import * as Stream2 from "effect/Stream";
var Entry = Schema4.Struct({
  sequence: Schema4.NonNegativeInt,
  id: Schema4.String,
  message: Message2,
  protected: Schema4.Boolean,
  recordedAt: Schema4.Number
});
var Compaction = Schema4.Struct({
  from: Schema4.NonNegativeInt,
  upTo: Schema4.NonNegativeInt,
  keep: Schema4.Array(Schema4.NonNegativeInt),
  messages: Schema4.Array(Message2)
});
var MemoryStore = class extends Context4.Tag("effect-memory/MemoryStore")() {
};
var isCovered = (compaction) => {
  if (compaction === void 0) return () => false;
  const keep = new Set(compaction.keep);
  return ({ sequence }) => sequence >= compaction.from && sequence < compaction.upTo && !keep.has(sequence);
};
var conflict = (operation, conversation, detail) => new MemoryStoreError({ reason: "conflict", operation, conversation, detail });
var makeMemory = Effect19.sync(() => {
  const logs = /* @__PURE__ */ new Map();
  const logOf = (id) => {
    const found = logs.get(id);
    if (found !== void 0) return found;
    const log2 = { revision: 0, nextSequence: 0, compaction: void 0, entries: [], counts: /* @__PURE__ */ new Map() };
    logs.set(id, log2);
    return log2;
  };
  const holds = (log2, entries) => {
    const first = log2.entries.findIndex((entry) => entry.sequence === entries[0].sequence);
    return first >= 0 && entries.every((entry, i) => log2.entries[first + i]?.id === entry.id);
  };
  return {
    append: (id, expectedSequence, entries) => Effect19.suspend(() => {
      const log2 = logOf(id);
      if (entries.length === 0) return Effect19.succeed(log2.revision);
      if (expectedSequence === log2.nextSequence) {
        for (const entry of entries) log2.entries.push(entry);
        log2.nextSequence += entries.length;
        return Effect19.succeed(log2.revision);
      }
      return holds(log2, entries) ? Effect19.succeed(log2.revision) : Effect19.fail(conflict(
        "append",
        id,
        `the log stands at ${log2.nextSequence}, not at ${expectedSequence}: load it and append again`
      ));
    }),
    load: (id) => Effect19.sync(() => {
      const log2 = logOf(id);
      const covered = isCovered(log2.compaction);
      return {
        revision: log2.revision,
        nextSequence: log2.nextSequence,
        compaction: log2.compaction,
        entries: log2.entries.filter((entry) => !covered(entry)),
        counts: new Map(Array.from(log2.counts, ([counter2, counts]) => [counter2, new Map(counts)]))
      };
    }),
    compact: (id, expectedRevision, compaction) => Effect19.suspend(() => {
      const log2 = logOf(id);
      if (log2.revision !== expectedRevision) {
        return Effect19.fail(conflict(
          "compact",
          id,
          `the revision is ${log2.revision}, not ${expectedRevision}: load the conversation and compact it anew`
        ));
      }
      log2.compaction = compaction;
      return Effect19.succeed(++log2.revision);
    }),
    saveCounts: (id, counter2, counts) => Effect19.sync(() => {
      const log2 = logOf(id);
      const saved = log2.counts.get(counter2) ?? /* @__PURE__ */ new Map();
      for (const [sequence, tokens] of counts) saved.set(sequence, tokens);
      log2.counts.set(counter2, saved);
    }),
    clear: (id) => Effect19.sync(() => {
      const log2 = logOf(id);
      log2.entries = [];
      log2.compaction = void 0;
      log2.counts.clear();
      log2.revision++;
    }),
    history: (id) => Stream2.suspend(() => {
      const { entries } = logOf(id);
      const end = entries.length;
      return Stream2.unfold(0, (i) => i < end ? Option2.some([entries[i], i + 1]) : Option2.none());
    }),
    list: Stream2.suspend(
      () => Stream2.fromIterable(Array.from(logs).filter(([, log2]) => log2.entries.length > 0).map(([id]) => id))
    )
  };
});
var layerMemory = Layer3.effect(MemoryStore, makeMemory);

// src/Memory.ts
var Memory = class extends Context5.Tag("effect-memory/Memory")() {
};
var nothingYet = {
  messages: [],
  repairs: 0
};
var measured = (tokens, isLess) => Effect20.map(Effect20.metricLabels, (labels) => {
  contextTokens.unsafeUpdate(tokens, labels);
  if (isLess) trims.unsafeUpdate(1, labels);
});
var invalid = (field, given, expected2) => new InvalidBudget({ field, given: String(given), expected: expected2 });
var make28 = Effect20.fnUntraced(function* (options2 = {}) {
  const id = options2.id ?? "default";
  const strategy = yield* TrimStrategy;
  const store = yield* MemoryStore;
  const budget = yield* Ref9.make(yield* make(options2));
  const tokenCounter = yield* TokenCounter;
  if (!isCount(tokenCounter.overhead)) {
    return yield* invalid("the counter's overhead", tokenCounter.overhead, "a finite number \u2265 0");
  }
  if (!isCount(tokenCounter.margin ?? 0)) {
    return yield* invalid("the counter's margin", tokenCounter.margin ?? 0, "a finite number \u2265 0");
  }
  const at = options2.background?.at ?? 1;
  if (!(at > 0 && at <= 1)) return yield* invalid("background.at", at, "a fraction of maxTokens above 0, at most 1");
  const billing = yield* make17(Ref9.get(budget), tokenCounter.calibration);
  const { publish: publish2, stream: events } = yield* make19;
  const last = yield* Ref9.make(nothingYet);
  const session = yield* make24({
    id,
    store,
    counter: tokenCounter,
    view: { repair: options2.rules !== "none", system: strategy.system ?? "keep" }
  });
  const { counter: counter2 } = session;
  const trimmer = yield* make10({
    id,
    session,
    strategy,
    budget: billing.budget,
    backoff: options2.backoff ?? defaultSchedule,
    timeout: Duration2.decode(options2.trimTimeout ?? "2 minutes"),
    publish: publish2
  });
  const attributes = { conversation: id };
  const span = (name, self) => spanned(self, name, attributes);
  const append = (messages, isProtected) => Effect20.flatMap(
    session.append(messages, isProtected),
    () => publish2(() => MemoryEvent.Recorded({ conversation: id, messages: messages.length, protected: isProtected }))
  );
  const record = (message2, isProtected) => isMessage(message2) ? append([message2], isProtected) : Effect20.flatMap(fromUnknown(message2), (valid) => append([valid], isProtected));
  const noteOverflow = Effect20.fnUntraced(function* ({ budget: budget2, tokens }) {
    const limit2 = budget2.maxTokens ?? Infinity;
    yield* publish2(() => MemoryEvent.OverBudget({ conversation: id, tokens, budget: limit2 }));
    if (options2.onOverflow !== "fail") return;
    const floor = yield* session.readCounted(({ view }) => view.floor(counter2.overhead));
    const added = Math.max(0, tokens - floor.total);
    return yield* new BudgetUnsatisfiable({
      budget: limit2,
      floor: { ...floor, overhead: floor.overhead + added, total: floor.total + added }
    });
  });
  const { rules = "pairing" } = options2;
  const present = yield* make21(trimmer, session, rules === "none" ? "pairing" : rules);
  const verified2 = yield* make26(present, session, billing.budget, (error) => Effect20.zipRight(
    Metric4.increment(countFailures),
    publish2(() => MemoryEvent.CountFailed({ conversation: id, error }))
  ));
  const handOut = Effect20.gen(function* () {
    const fitted = yield* verified2;
    const { budget: { maxTokens: maxTokens2 }, messages, tokens, trimmed, view } = fitted;
    if (tokens > (maxTokens2 ?? Infinity)) yield* noteOverflow(fitted);
    const before = yield* Ref9.getAndSet(last, { messages: messages.slice(), repairs: view.repairs });
    if (view.repairs > before.repairs) {
      yield* publish2(() => MemoryEvent.Repaired({ conversation: id, messages: view.repairs }));
    }
    const isLess = trimmed && (tokens < view.tokens || messages.length < view.messages);
    yield* measured(tokens, isLess);
    if (isLess) {
      yield* publish2(
        () => MemoryEvent.Trimmed({
          conversation: id,
          tokensBefore: view.tokens,
          tokensAfter: tokens,
          messagesBefore: view.messages,
          messagesAfter: messages.length
        })
      );
    }
    yield* billing.counted(tokens);
    if (maxTokens2 !== void 0 && options2.background !== void 0) yield* trimmer.ahead(options2.background.at);
    return fitted;
  });
  const context = Effect20.map(
    spanned(handOut, "Memory.context", attributes, ({ messages, tokens }) => ({ messages: messages.length, tokens })),
    ({ messages }) => messages
  );
  return {
    record: (message2) => span("Memory.record", Effect20.suspend(() => record(message2, false))),
    recordAll: (messages) => {
      const all2 = Array.from(messages);
      const valid = Effect20.forEach(all2, fromUnknown, { concurrency: 1 });
      return span(
        "Memory.recordAll",
        Effect20.flatMap(valid, (messages2) => messages2.length === 0 ? Effect20.void : append(messages2, false))
      );
    },
    recordProtected: (message2) => span("Memory.recordProtected", Effect20.suspend(() => record(message2, true))),
    context,
    plan: span(
      "Memory.plan",
      Effect20.zipWith(trimmer.plan, Ref9.get(last), ({ context: context2, ...plan }, { messages }) => ({
        ...plan,
        stablePrefix: commonPrefix(messages, context2)
      }))
    ),
    compact: span("Memory.compact", trimmer.force),
    // Another memory may be first: then the view is loaded anew.
    restore: span(
      "Memory.restore",
      session.compact(() => Effect20.succeed({ compaction: void 0 })).pipe(
        Effect20.retry({ while: (error) => error.reason === "conflict", times: 10 }),
        Effect20.asVoid
      )
    ),
    history: store.history(id),
    usage: span(
      "Memory.usage",
      Effect20.flatMap(Ref9.get(budget), ({ maxRounds, maxTokens: maxTokens2 }) => session.readCounted(({ compaction, view }) => ({
        messages: view.size,
        rounds: view.rounds,
        tokens: view.tokens + counter2.overhead,
        summarized: compaction === void 0 ? 0 : compaction.upTo - compaction.from - compaction.keep.length,
        maxTokens: maxTokens2,
        maxRounds
      })))
    ),
    observeUsage: ({ inputTokens }) => billing.billed(inputTokens),
    setMaxTokens: (maxTokens2) => Effect20.zipRight(make({ maxTokens: maxTokens2 }), Ref9.update(budget, (now) => ({ ...now, maxTokens: maxTokens2 }))),
    setMaxRounds: (maxRounds) => Effect20.zipRight(make({ maxRounds }), Ref9.update(budget, (now) => ({ ...now, maxRounds }))),
    clear: span(
      "Memory.clear",
      session.clear.pipe(Effect20.zipRight(Ref9.set(last, nothingYet)), Effect20.zipRight(billing.forget))
    ),
    events
  };
});
var commonPrefix = (a, b) => {
  const end = a.findIndex((message2, i) => message2 !== b[i]);
  return end < 0 ? a.length : end;
};
var layer = (options2) => Layer4.scoped(Memory, make28(options2));
var layerConfig = (options2) => Layer4.scoped(Memory, Effect20.flatMap(Config.unwrap(options2), make28));
var ownStore = () => Layer4.effect(MemoryStore, makeMemory);
var layerWindow = (options2) => layer(options2).pipe(
  Layer4.provide([layerCharacters, layerWindowDrop, ownStore()])
);
var layerUnbounded = Layer4.orDie(layer()).pipe(
  Layer4.provide([layerCharacters, layerWindowDrop, ownStore()])
);

// benchmark/turn.ts
import { Bench } from "tinybench";
var maxTokens = 4e3;
var sizes = [100, 1e3, 1e4, 1e5];
var PlainWindow = class {
  constructor(store, counter2) {
    this.store = store;
    this.counter = counter2;
  }
  store;
  counter;
  messages = [];
  sums = [0];
  roundStarts = [];
  open = /* @__PURE__ */ new Set();
  system = [];
  lastWrite = Promise.resolve();
  async record(message2) {
    if (!Message_exports.isMessage(message2)) throw new TypeError("not a message");
    const write = this.lastWrite.then(() => this.append(message2));
    this.lastWrite = write.catch(() => void 0);
    await write;
  }
  async context() {
    while (this.sums.length <= this.messages.length) {
      const tokens = await this.counter.count(this.messages[this.sums.length - 1]);
      this.sums.push(this.sums[this.sums.length - 1] + tokens);
    }
    const total = this.sums[this.sums.length - 1];
    if (total <= maxTokens) return this.messages.slice();
    const system2 = this.system.reduce((sum2, i) => sum2 + this.sums[i + 1] - this.sums[i], 0);
    let low = 0;
    let high = this.roundStarts.length - 1;
    while (low < high) {
      const middle = low + high >>> 1;
      if (total - this.sums[this.roundStarts[middle]] + system2 <= maxTokens) high = middle;
      else low = middle + 1;
    }
    const start2 = this.roundStarts[low];
    return [...this.system.filter((i) => i < start2).map((i) => this.messages[i]), ...this.messages.slice(start2)];
  }
  async append(message2) {
    await this.store.append(this.messages.length, { message: message2, at: Date.now() });
    if (message2.role === "user" && this.open.size === 0) this.roundStarts.push(this.messages.length);
    for (const call of Message_exports.toolCalls(message2)) this.open.add(call.id);
    for (const result of Message_exports.toolResults(message2)) this.open.delete(result.id);
    if (message2.role === "system" && this.roundStarts.length === 0) this.system.push(this.messages.length);
    this.messages.push(message2);
  }
};
var plainStore = () => {
  const log2 = [];
  return {
    append: async (sequence, entry) => {
      if (sequence !== log2.length) throw new Error("conflict");
      log2.push(entry);
    }
  };
};
var plainCounter = {
  count: async (message2) => Message_exports.parts(message2).reduce((sum2, part) => {
    switch (part.type) {
      case "text":
      case "reasoning":
        return sum2 + countCharacters(part.text);
      case "tool-call":
        return sum2 + countCharacters(part.name) + countCharacters(JSON.stringify(part.params));
      case "tool-result":
        return sum2 + countCharacters(typeof part.result === "string" ? part.result : JSON.stringify(part.result));
      case "file":
        return sum2 + 1e3;
    }
  }, 0)
};
var message = (n) => {
  const id = `call-${n >> 2}`;
  switch (n % 4) {
    case 0:
      return Message_exports.user(`Why is the test of module ${n} red? `.repeat(4));
    case 1:
      return Message_exports.assistant([
        Message_exports.text("I look at the log of the last run first."),
        Message_exports.toolCall({ id, name: "read_file", params: { path: `logs/run-${n}.txt`, lines: 40 } })
      ]);
    case 2:
      return Message_exports.tool([
        Message_exports.toolResult({ id, name: "read_file", result: `12:00:${n % 60} worker ${n} finished
`.repeat(60) })
      ]);
    default:
      return Message_exports.assistant(`The fixture of module ${n} is older than its schema. `.repeat(6));
  }
};
var log = Array.from({ length: Math.max(...sizes) }, (_, n) => message(n));
var batch = 100;
var warmUps = 400;
var makePlain = async (size) => {
  const memory = new PlainWindow(plainStore(), plainCounter);
  await memory.record(Message_exports.system("You fix tests."));
  for (const entry of log.slice(0, size)) await memory.record(entry);
  await memory.context();
  let n = size;
  return async () => {
    for (const end = n + batch; n < end; n++) {
      await memory.record(message(n));
      await memory.context();
    }
  };
};
var makeOurs = async (size) => {
  const runtime = ManagedRuntime.make(Memory_exports.layerWindow({ maxTokens }));
  const memory = await runtime.runPromise(Memory_exports.Memory);
  await runtime.runPromise(memory.recordAll([Message_exports.system("You fix tests."), ...log.slice(0, size)]));
  await runtime.runPromise(memory.context);
  let n = size;
  return () => runtime.runPromise(Effect21.gen(function* () {
    for (const end = n + batch; n < end; n++) {
      yield* memory.record(message(n));
      yield* memory.context;
    }
  }));
};
for (const run of [await makePlain(100), await makeOurs(100)]) {
  for (let i = 0; i < warmUps; i++) await run();
}
var bench = new Bench({ time: 0, iterations: 30, warmupTime: 0, warmupIterations: 2 });
for (const size of sizes) {
  bench.add(`plain ${size}`, await makePlain(size));
  bench.add(`memory ${size}`, await makeOurs(size));
}
await bench.run();
var perTurn = (name) => bench.getTask(name).result.latency.p50 * 1e3 / batch;
for (const size of sizes) {
  const plain = perTurn(`plain ${size}`);
  const memory = perTurn(`memory ${size}`);
  console.log(
    `${String(size).padStart(7)} messages: plain ${plain.toFixed(1)} \xB5s, memory ${memory.toFixed(1)} \xB5s, ratio ${(memory / plain).toFixed(1)}, against the shortest log ${(memory / perTurn(`memory ${sizes[0]}`)).toFixed(2)}`
  );
}
