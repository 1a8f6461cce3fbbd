import type { ObjectKey } from '@coxswain/apimachinery/meta'
import type { Client } from '../client.ts'
import { podPath } from './pod-path.ts'

/** Options of a container's log, as of `kubectl logs`. */
export interface LogOptions {
  readonly container?: string
  /** Follows the log until the container ends. @default false */
  readonly follow?: boolean
  /** The log of the previous container. @default false */
  readonly previous?: boolean
  readonly timestamps?: boolean
  readonly sinceSeconds?: number
  /** RFC 3339. */
  readonly sinceTime?: string
  readonly tailLines?: number
  readonly limitBytes?: number
  readonly signal?: AbortSignal
}

/** The lines of a container's log, without their ends. Leaving the loop, or `signal`, ends the request. */
export async function* readLog(
  client: Client,
  pod: ObjectKey,
  options: LogOptions = {},
): AsyncGenerator<string, void, undefined> {
  const { signal, ...query } = options
  const decoder = new TextDecoder()
  let rest = ''
  try {
    const { body } = await client.raw.stream({
      path: podPath(pod, 'log'),
      query: { ...query },
      accept: '*/*',
      ...(signal && { signal }),
    })
    const chunks = body === undefined ? [] : body instanceof Uint8Array ? [body] : body
    for await (const chunk of chunks) {
      const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n')
      rest = lines.pop() ?? ''
      yield* lines
    }
  } catch (error) {
    if (!signal?.aborted) throw error
    return
  }
  rest += decoder.decode()
  if (rest !== '') yield rest
}
