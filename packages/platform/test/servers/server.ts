/**
 * Services that answer by a script of faults, over sockets or within the process, and note what reaches them.
 */
import { createServer } from "node:http"
import { HttpClient, HttpClientResponse, HttpServerRequest, HttpServerResponse } from "@effect/platform"
import { NodeHttpServer, NodeHttpServerRequest } from "@effect/platform-node"
import { Clock, Effect, Ref, Schedule, Schema, Stream } from "effect"

export interface Asked {
  readonly path: string
  readonly headers: { readonly [name: string]: string | undefined }
  /** The body, decoded from JSON. */
  readonly body: unknown
}

export interface Reply {
  readonly status: number
  readonly headers?: { readonly [name: string]: string } | undefined
  /** Text as it is, anything else as JSON. */
  readonly body: unknown
}

/**
 * What becomes of a request: `serve` answers it, `hang` sends nothing, `drip` sends a byte now and then, `cut` breaks off
 * within the body, `reset` closes the connection at once.
 */
export type Fault = Reply | "serve" | "hang" | "drip" | "cut" | "reset"

/** A service without its faults. */
export type Handler = (asked: Asked) => Reply

interface Seen extends Asked {
  /** Milliseconds of the clock of the test. */
  readonly at: number
}

interface Journal {
  readonly seen: Effect.Effect<ReadonlyArray<Seen>>
  /** How many requests the client gave up. */
  readonly closed: Effect.Effect<number>
}

const textOf = ({ body }: Reply): string => typeof body === "string" ? body : JSON.stringify(body)

const headersOf = ({ body, headers }: Reply) => ({
  "content-type": typeof body === "string" ? "text/html" : "application/json",
  ...headers
})

const parse = (text: string): unknown => Schema.decodeUnknownSync(Schema.parseJson())(text)

/** The faults in turn, then no more of them. */
const scripted = (script: ReadonlyArray<Fault>) =>
  Effect.gen(function*() {
    const seen = yield* Ref.make<ReadonlyArray<Seen>>([])
    const closed = yield* Ref.make(0)
    return {
      note: (asked: Asked) =>
        Effect.gen(function*() {
          const at = yield* Clock.currentTimeMillis
          const n = yield* Ref.modify(seen, (all) => [all.length, [...all, { ...asked, at }]])
          return script[n] ?? "serve"
        }),
      gaveUp: Ref.update(closed, (n) => n + 1),
      journal: { seen: Ref.get(seen), closed: Ref.get(closed) }
    }
  })

/** Until the client goes away: a handler is not interruptible by itself. */
const hang = Effect.interruptible(Effect.never)

/** A server on a free port of this machine. */
export const listen = (handler: Handler, script: ReadonlyArray<Fault> = []) =>
  Effect.gen(function*() {
    const { gaveUp, journal, note } = yield* scripted(script)
    const node = createServer()
    const server = yield* NodeHttpServer.make(() => node, { port: 0, host: "127.0.0.1" })
    yield* Effect.addFinalizer(() => Effect.sync(() => node.closeAllConnections()))

    const app = Effect.gen(function*() {
      const request = yield* HttpServerRequest.HttpServerRequest
      const asked = { path: request.url, headers: { ...request.headers }, body: parse(yield* request.text) }
      const fault = yield* note(asked)
      if (fault === "hang") return yield* Effect.onInterrupt(hang, () => gaveUp)
      if (fault === "reset") {
        NodeHttpServerRequest.toIncomingMessage(request).socket.destroy()
        return yield* hang
      }
      if (fault === "cut") {
        const response = NodeHttpServerRequest.toServerResponse(request)
        response.writeHead(200, { "content-type": "application/json", "content-length": "1000" })
        response.write("{\"input_to", () => response.destroy())
        return yield* hang
      }
      if (fault === "drip") {
        const bytes = Stream.repeat(Stream.make(new Uint8Array([32])), Schedule.spaced("20 millis"))
        return HttpServerResponse.stream(Stream.ensuring(bytes, gaveUp), { contentType: "application/json" })
      }
      const reply = fault === "serve" ? handler(asked) : fault
      return HttpServerResponse.text(textOf(reply), { status: reply.status, headers: headersOf(reply) })
    })
    yield* server.serve(Effect.orDie(app))
    const { address } = server
    const url = address._tag === "TcpAddress" ? `http://127.0.0.1:${address.port}` : ""
    const out: Journal & { readonly url: string } = { ...journal, url }
    return out
  })

/** The same as a client that opens no sockets. Bodies that drip hang. */
export const client = (handler: Handler, script: ReadonlyArray<Fault> = []) =>
  Effect.gen(function*() {
    const { gaveUp, journal, note } = yield* scripted(script)
    const client = HttpClient.make((request, url) =>
      Effect.gen(function*() {
        const text = request.body._tag === "Uint8Array" ? new TextDecoder().decode(request.body.body) : "null"
        const asked = { path: `${url.pathname}${url.search}`, headers: { ...request.headers }, body: parse(text) }
        const fault = yield* note(asked)
        if (typeof fault === "string" && fault !== "serve") {
          return yield* Effect.onInterrupt(Effect.never, () => gaveUp)
        }
        const reply = fault === "serve" ? handler(asked) : fault
        return HttpClientResponse.fromWeb(
          request,
          new Response(textOf(reply), { status: reply.status, headers: headersOf(reply) })
        )
      })
    )
    const out: Journal & { readonly client: HttpClient.HttpClient } = { ...journal, client }
    return out
  })

/** A count unlike any local one. */
export const count = (...of: ReadonlyArray<unknown>): number => Math.ceil(JSON.stringify(of).length * 1.35) + 8

export const isRecord = (value: unknown): value is { readonly [key: string]: unknown } =>
  typeof value === "object" && value !== null && !Array.isArray(value)

export const records = (value: unknown): ReadonlyArray<{ readonly [key: string]: unknown }> =>
  Array.isArray(value) ? value.filter(isRecord) : []

/** Names that a body may not have. */
export const unknownFields = (body: { readonly [key: string]: unknown }, known: ReadonlyArray<string>) =>
  Object.keys(body).filter((name) => !known.includes(name))
