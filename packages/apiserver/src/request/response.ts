import { builtinProtobuf } from '@coxswain/api'
import { type JsonObject, writeJson } from '@coxswain/apimachinery/json'
import { protobufMediaType } from '@coxswain/apimachinery/protobuf'
import { newNotFound, type Status, StatusError } from '@coxswain/apimachinery/status'
import { writeYaml } from '@coxswain/apimachinery/yaml'
import { encodeText } from '@coxswain/kit'
import {
  type Conversation,
  isPushStream,
  isStream,
  type WireHeaders,
  type WireResponse,
} from '@coxswain/wire'
import { type Encoding, negotiate } from './accept.ts'

export const jsonHeaders: WireHeaders = {
  'content-type': 'application/json',
  'cache-control': 'no-cache, private',
}
const textHeaders: WireHeaders = {
  'content-type': 'text/plain; charset=utf-8',
  'cache-control': 'no-cache, private',
  'x-content-type-options': 'nosniff',
}

/** JSON as upstream's encoder writes it, with a newline. */
export function jsonResponse(status: number, value: unknown): WireResponse {
  return { status, headers: jsonHeaders, body: encodeText(`${writeJson(value)}\n`) }
}

/** Indented JSON without a newline, for every client. */
export function indentedResponse(status: number, value: unknown): WireResponse {
  return { status, headers: jsonHeaders, body: encodeText(JSON.stringify(value, null, 2)) }
}

export function textResponse(status: number, text: string): WireResponse {
  return { status, headers: textHeaders, body: encodeText(text) }
}

/** `accept` is the client's header: a Status uses the accepted encoding, JSON by default. */
export function statusResponse(status: Status, accept?: string): WireResponse {
  const retryAfter = status.details?.retryAfterSeconds
  const response = encodedResponse(status, negotiate(accept, () => true)?.encoding ?? 'json')
  if (!retryAfter) return response
  return { ...response, headers: { ...response.headers, 'retry-after': String(retryAfter) } }
}

function encodedResponse(status: Status, encoding: Encoding): WireResponse {
  const code = status.code ?? 200
  if (encoding === 'json') return jsonResponse(code, status)
  const isYaml = encoding === 'yaml'
  return {
    status: code,
    headers: {
      'content-type': isYaml ? 'application/yaml' : protobufMediaType,
      'cache-control': 'no-cache, private',
    },
    body: isYaml
      ? encodeText(writeYaml(status, { sorted: true }))
      : builtinProtobuf.encode(status as unknown as JsonObject),
  }
}

export function errorResponse(error: StatusError, accept?: string): WireResponse {
  return statusResponse(error.status, accept)
}

/** The 404 for an unknown path below one that the API serves. */
export function unknownResource(): StatusError {
  const { status } = newNotFound({ group: '', resource: '' }, '')
  return new StatusError({
    ...status,
    message: 'the server could not find the requested resource',
    details: {},
  })
}

/** The 404 for a path that the API does not know. */
export const notFoundPage: WireResponse = textResponse(404, '404 page not found\n')

/**
 * Observes a long-running response: `finished` is called once, when its stream or conversation ends or the client disconnects.
 * Undefined for a complete response.
 */
export function whenOver(
  response: WireResponse,
  signal: () => AbortSignal,
  finished: () => void,
): WireResponse | undefined {
  const { body, conversation } = response
  if (conversation) {
    let isOver = false
    const end = () => {
      if (!isOver) finished()
      isOver = true
    }
    // A client that does not agree to any protocol is never talked to.
    signal().addEventListener('abort', end, { once: true })
    const talk: Conversation['talk'] = channel => conversation.talk(channel).finally(end)
    return { ...response, conversation: { ...conversation, talk } }
  }
  if (!isStream(body)) return undefined
  const followed = whenFinished(body, finished)
  return followed === body ? response : { ...response, body: followed }
}

/** The same chunks; `finished` is called once, however the stream ends, even when it is never read. */
function whenFinished(body: AsyncIterable<Uint8Array>, finished: () => void): AsyncIterable<Uint8Array> {
  if (isPushStream(body)) {
    body.onFinished(finished)
    return body
  }
  let isOver = false
  const end = () => {
    if (!isOver) finished()
    isOver = true
  }
  return {
    [Symbol.asyncIterator]: () => {
      const inner = body[Symbol.asyncIterator]()
      return {
        async next() {
          try {
            const result = await inner.next()
            if (result.done) end()
            return result
          } catch (error) {
            end()
            throw error
          }
        },
        async return() {
          end()
          await inner.return?.()
          return { done: true, value: undefined }
        },
      }
    },
  }
}
