import type { Clock, Env, Lane } from '@coxswain/kit'
import type { Transport } from '@coxswain/wire'

/**
 * A process that can be paused, as by SIGSTOP: while it is, none of its timers, hand-offs or answers gets through, but
 * time goes on, and what it has sent is on its way.
 */
export class PausableProcess {
  readonly env: Env
  #waiting: (() => void)[] = []
  #paused = false

  constructor(world: Env) {
    const run = (action: () => void): void => {
      if (this.#paused) this.#waiting.push(action)
      else action()
    }
    const after: Clock['after'] = (ms, callback) => {
      let cancelled = false
      const guarded = (): void => {
        if (!cancelled) callback()
      }
      const timer = world.clock.after(ms, () => run(guarded))
      return {
        cancel: () => {
          cancelled = true
          timer.cancel()
        },
      }
    }
    const lane = (label: string): Lane => {
      const inner = world.scheduler.lane(label)
      const post = (action: () => void): void => inner.post(() => run(action))
      return { post, step: () => new Promise(resolve => post(resolve)) }
    }
    this.env = {
      ...world,
      random: world.random,
      log: world.log,
      clock: {
        now: () => world.clock.now(),
        monotonic: () => world.clock.monotonic(),
        after,
        sleep: (ms, { signal } = {}) =>
          new Promise((resolve, reject) => {
            if (signal?.aborted) return reject(signal.reason)
            const onAbort = (): void => {
              timer.cancel()
              reject(signal?.reason)
            }
            const timer = after(ms, () => {
              signal?.removeEventListener('abort', onAbort)
              resolve()
            })
            signal?.addEventListener('abort', onAbort, { once: true })
          }),
      },
      scheduler: { lane, step: label => lane(label).step() },
    }
  }

  pause(): void {
    this.#paused = true
  }

  resume(): void {
    this.#paused = false
    for (const action of this.#waiting.splice(0)) action()
  }

  /** A transport whose answers wait while the process is paused. */
  transport(inner: Transport, onSend: (method: string, path: string) => void = () => {}): Transport {
    const gate = (): Promise<void> =>
      this.#paused ? new Promise(resolve => this.#waiting.push(resolve)) : Promise.resolve()
    return {
      send: async request => {
        onSend(request.method, request.path)
        try {
          const response = await inner.send(request)
          await gate()
          const { body } = response
          if (!body || body instanceof Uint8Array || !(Symbol.asyncIterator in body)) return response
          return { ...response, body: gated(body, gate) }
        } catch (error) {
          await gate()
          throw error
        }
      },
      [Symbol.asyncDispose]: () => inner[Symbol.asyncDispose](),
    }
  }
}

async function* gated(
  body: AsyncIterable<Uint8Array>,
  gate: () => Promise<void>,
): AsyncGenerator<Uint8Array, void, undefined> {
  for await (const chunk of body) {
    await gate()
    yield chunk
  }
}
