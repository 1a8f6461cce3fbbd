import type { Kind, KindOf } from '@coxswain/apimachinery/kinds'
import type { ObjectKey } from '@coxswain/apimachinery/meta'
import { isExpired, isStatusError } from '@coxswain/apimachinery/wire-format'
import type { Env } from '@coxswain/kit'
import { isTransportError } from '@coxswain/wire'
import type { Client } from './client.ts'
import { ClientError } from './errors.ts'
import type { WatchEvent } from './options.ts'

/** Options of {@link waitFor}. */
export interface WaitForOptions {
  /** Milliseconds. @default 30000 */
  readonly timeout?: number
  readonly signal?: AbortSignal
}

/** How long to wait before looking again after a watch could not be had. */
const pause = 500

/**
 * Resolves with the object, or undefined when there is none, as soon as `condition` holds for it. Looks once, then
 * watches; a watch that breaks is begun anew. Rejects with `WaitTimeout`.
 */
export async function waitFor<K extends Kind>(
  client: Pick<Client, 'list' | 'watch'>,
  env: Pick<Env, 'clock'>,
  target: { readonly kind: K; readonly key: ObjectKey },
  condition: (object: KindOf<K> | undefined) => boolean,
  options: WaitForOptions = {},
): Promise<KindOf<K> | undefined> {
  const { timeout = 30_000, signal: outer } = options
  const { kind, key } = target
  outer?.throwIfAborted()
  const controller = new AbortController()
  const { signal } = controller
  const onAbort = () => controller.abort(outer?.reason)
  outer?.addEventListener('abort', onAbort, { once: true })
  const timer = env.clock.after(timeout, () => {
    const what = `${kind.kind} ${key.namespace === undefined ? '' : `${key.namespace}/`}${key.name}`
    controller.abort(
      new ClientError('WaitTimeout', `${what}: the condition does not hold after ${timeout} ms`),
    )
  })
  const scope = {
    fieldSelector: `metadata.name=${key.name}`,
    signal,
    ...(key.namespace !== undefined && { namespace: key.namespace }),
  }
  try {
    for (;;) {
      try {
        const list = await client.list(kind, scope)
        const first = list.items[0]
        if (condition(first)) return first
        const resourceVersion = list.metadata.resourceVersion ?? ''
        for await (const event of client.watch(kind, { ...scope, resourceVersion })) {
          if (event.type === 'BOOKMARK') continue
          const object = objectOf(event)
          if (condition(object)) return object
        }
      } catch (error) {
        signal.throwIfAborted()
        if (!isPassing(error)) throw error
      }
      signal.throwIfAborted()
      await env.clock.sleep(pause, { signal })
    }
  } finally {
    timer.cancel()
    outer?.removeEventListener('abort', onAbort)
    controller.abort()
  }
}

function objectOf<T>(event: Exclude<WatchEvent<T>, { type: 'BOOKMARK' }>): T | undefined {
  return event.type === 'DELETED' ? undefined : event.object
}

function isPassing(error: unknown): boolean {
  if (isTransportError(error)) return error.code === 'ConnectionLost' || error.code === 'Timeout'
  return isStatusError(error) && (isExpired(error) || error.code === 429 || error.code >= 500)
}
