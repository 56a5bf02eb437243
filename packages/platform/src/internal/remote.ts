/**
 * One request to a service: JSON there, JSON back, and every failure a `RemoteError`. Causes are left behind, since
 * they hold the request with its key and what was sent.
 */
import * as HttpClient from "@effect/platform/HttpClient"
import type * as HttpClientError from "@effect/platform/HttpClientError"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import type * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { RemoteError } from "../RemoteError.js"
import type { Endpoint } from "../RemotePolicy.js"
import * as classify from "./classify.js"

/** @internal */
export interface Route extends Endpoint {
  readonly url: string
  /** What of the path spans show: a base URL can have a key in its own. */
  readonly path: string
  readonly headers: { readonly [name: string]: string | Redacted.Redacted<string> }
}

/** Only what looks like an id is shown. */
const requestId = (headers: classify.Answer["headers"]): { readonly requestId?: string } => {
  const id = headers["request-id"] ?? headers["x-request-id"]
  return id !== undefined && /^[\w-]{1,80}$/.test(id) ? { requestId: id } : {}
}

const open = ({ headers, url }: Route): HttpClientRequest.HttpClientRequest =>
  HttpClientRequest.post(url).pipe(
    HttpClientRequest.acceptJson,
    HttpClientRequest.setHeaders(
      Object.entries(headers).map(([name, value]): [string, string] => [
        name,
        Redacted.isRedacted(value) ? Redacted.value(value) : value
      ])
    )
  )

/**
 * Makes the function that sends a body, which is JSON already, and reads the answer by a schema. One attempt: the policy
 * is the caller's. Fields that the schema does not name pass.
 *
 * @internal
 */
export const post = <A, I>(
  client: HttpClient.HttpClient,
  route: Route,
  schema: Schema.Schema<A, I>
): (body: string) => Effect.Effect<A, RemoteError> => {
  const { operation, service } = route
  const request = open(route)
  const { host } = new URL(route.url)
  const decode = Schema.decodeUnknown(schema)
  // A span of the client ends with a failure that holds the request, its key and its body: this one is our own.
  const quiet = HttpClient.withTracerDisabledWhen(client, () => true)
  const fail = (fields: Omit<ConstructorParameters<typeof RemoteError>[0], "service" | "operation">) =>
    new RemoteError({ service, operation, ...fields })

  const failure = (error: HttpClientError.HttpClientError): RemoteError =>
    error._tag === "RequestError" && error.reason !== "Transport"
      ? fail({ kind: "invalidRequest", retryable: false })
      : fail({ kind: "transport", retryable: true })

  const read = Effect.fnUntraced(function*(response: HttpClientResponse.HttpClientResponse) {
    const body = yield* Effect.mapError(response.text, failure)
    const { headers, status } = response
    yield* Effect.annotateCurrentSpan("http.response.status_code", status)
    const now = yield* Clock.currentTimeMillis
    const found = classify.read({ status, headers, body }, now)
    if (found._tag === "Fault") return yield* fail({ status, ...requestId(headers), ...found.verdict })
    return yield* Effect.mapError(
      decode(found.body),
      () => fail({ status, ...requestId(headers), kind: "invalidAnswer", retryable: false })
    )
  })

  return (body) =>
    quiet.execute(HttpClientRequest.bodyText(request, body, "application/json")).pipe(
      // A client may have been told to fail on a status.
      Effect.catchAll((error) =>
        error._tag === "ResponseError" && error.reason === "StatusCode"
          ? Effect.succeed(error.response)
          : Effect.fail(failure(error))
      ),
      Effect.flatMap(read),
      Effect.withSpan("http.client POST", {
        kind: "client",
        captureStackTrace: false,
        attributes: { "http.request.method": "POST", "server.address": host, "url.path": route.path }
      })
    )
}
