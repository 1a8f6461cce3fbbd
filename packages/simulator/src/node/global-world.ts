import type { Clock } from '@coxswain/kit'
import type { OutsideServices } from '../world/services.ts'

/** What the globals of a process lead to during a run. */
export interface GlobalWorldOptions {
  readonly clock: Clock
  readonly services: Pick<OutsideServices, 'send'>
  /** A promise of the operator was rejected without a handler. */
  readonly onUnhandledRejection: (reason: unknown) => void
}

/**
 * Until it is disposed of, `fetch` leads into the world and never out of it, `AbortSignal.timeout` waits on its clock, and promises that
 * are rejected without a handler are reported. One run at a time can have it.
 */
export function enterWorld({ clock, services, onUnhandledRejection }: GlobalWorldOptions): Disposable {
  const { fetch: fetchOutside } = globalThis
  const { timeout } = AbortSignal
  globalThis.fetch = async (input, init) => {
    const request = new Request(input, init)
    const body = request.method === 'GET' || request.method === 'HEAD' ? '' : await request.text()
    const { status, body: content } = await services.send(
      {
        method: request.method,
        url: new URL(request.url),
        headers: Object.fromEntries(request.headers),
        body,
      },
      request.signal,
    )
    const text =
      content === undefined ? null : typeof content === 'string' ? content : JSON.stringify(content)
    return new Response(status === 204 ? null : text, {
      status,
      headers: { 'content-type': 'application/json' },
    })
  }
  AbortSignal.timeout = milliseconds => {
    const controller = new AbortController()
    clock.after(milliseconds, () =>
      controller.abort(new DOMException('The operation was aborted due to timeout', 'TimeoutError')),
    )
    return controller.signal
  }
  process.on('unhandledRejection', onUnhandledRejection)
  return {
    [Symbol.dispose]() {
      globalThis.fetch = fetchOutside
      AbortSignal.timeout = timeout
      process.off('unhandledRejection', onUnhandledRejection)
    },
  }
}
