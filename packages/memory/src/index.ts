export * as Budget from "./Budget.js"
export * as MemoryError from "./MemoryError.js"
export * as Message from "./Message.js"
export * as TokenCounter from "./TokenCounter.js"
