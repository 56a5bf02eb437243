/**
 * A server on a free port of this machine, which notes what reaches it.
 */
import { createServer } from "node:http"
import { HttpServerRequest, HttpServerResponse } from "@effect/platform"
import { NodeHttpServer } from "@effect/platform-node"
import { Deferred, Effect, Ref } from "effect"

export interface Asked {
  readonly path: string
  readonly headers: { readonly [name: string]: string | undefined }
  readonly body: string
}

export interface Reply {
  readonly status?: number
  /** Text as it is, anything else as JSON. */
  readonly body: unknown
}

/** What the n-th request is answered, from 0; nothing at all where it is `undefined`. */
export type Handler = (asked: Asked, n: number) => Reply | undefined

/** Done when a request is left without an answer, and when its client has gone away. */
export interface Hanging {
  readonly asked: Deferred.Deferred<void>
  readonly gone: Deferred.Deferred<void>
}

export const listen = (handler: Handler, hanging?: Hanging) =>
  Effect.gen(function*() {
    const seen = yield* Ref.make<ReadonlyArray<Asked>>([])
    const node = createServer()
    const server = yield* NodeHttpServer.make(() => node, { port: 0, host: "127.0.0.1" })
    yield* Effect.addFinalizer(() => Effect.sync(() => node.closeAllConnections()))
    const app = Effect.gen(function*() {
      const request = yield* HttpServerRequest.HttpServerRequest
      const asked = { path: request.url, headers: { ...request.headers }, body: yield* request.text }
      const n = yield* Ref.modify(seen, (all) => [all.length, [...all, asked]])
      const reply = handler(asked, n)
      if (reply === undefined) {
        if (hanging !== undefined) yield* Deferred.succeed(hanging.asked, undefined)
        const gone = hanging === undefined ? Effect.void : Deferred.succeed(hanging.gone, undefined)
        return yield* Effect.onInterrupt(Effect.interruptible(Effect.never), () => gone)
      }
      const { body, status = 200 } = reply
      return HttpServerResponse.text(typeof body === "string" ? body : JSON.stringify(body), { status })
    })
    yield* server.serve(Effect.orDie(app))
    const { address } = server
    return { url: address._tag === "TcpAddress" ? `http://127.0.0.1:${address.port}` : "", seen: Ref.get(seen) }
  })

/** Where nobody listens. */
export const nowhere = Effect.scoped(Effect.map(listen(() => ({ body: "" })), ({ url }) => url))
