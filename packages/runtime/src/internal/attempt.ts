import { parseKey } from '@coxswain/apimachinery'
import type { ControllerDependencies } from '../controller.ts'
import { RuntimeError } from '../errors.ts'
import type { ApiCall, OperatorClient } from '../operator-client.ts'
import type { ReconcileContext } from '../reconcile.ts'
import type { Trigger } from '../trigger.ts'
import { createCachedClient } from './cached-client.ts'

export interface AttemptOptions {
  readonly key: string
  readonly triggers: readonly Trigger[]
  readonly failures: number
  /** Milliseconds; undefined for no limit. */
  readonly timeout: number | undefined
  /** Ends the attempt at once. */
  readonly hardStop: AbortSignal
}

/** One call of a reconciler: its context, and what is left of it. */
export class Attempt implements Disposable {
  readonly context: ReconcileContext
  /** The calls to the server, in the order in which they ended. */
  readonly calls: ApiCall[] = []
  readonly #dispose: () => void
  #timedOut: RuntimeError | undefined

  constructor(deps: ControllerDependencies, options: AttemptOptions) {
    const { env, events, guard, registry } = deps
    const { clock, random, log } = env
    const { key, triggers, failures, timeout, hardStop } = options
    const controller = new AbortController()
    const onHardStop = (): void => controller.abort(hardStop.reason)
    if (hardStop.aborted) onHardStop()
    else hardStop.addEventListener('abort', onHardStop, { once: true })
    const timer =
      timeout === undefined
        ? undefined
        : clock.after(timeout, () => {
            const text = `the reconcile took longer than ${timeout} ms`
            this.#timedOut = new RuntimeError('ReconcileTimeout', text)
            controller.abort(this.#timedOut)
          })
    this.#dispose = () => {
      timer?.cancel()
      hardStop.removeEventListener('abort', onHardStop)
    }
    const { signal } = controller
    const onCall = (call: ApiCall): void => void this.calls.push(call)
    const clientOf = ({ client, cache }: Pick<ControllerDependencies, 'client' | 'cache'>): OperatorClient =>
      createCachedClient({ client, cache, clock, signal, onCall, ...(guard && { guard }) })
    this.context = {
      key: parseKey(key),
      client: clientOf(deps),
      cluster: name => clientOf(deps.clusters.get(name)),
      clock,
      random,
      events,
      log: log.child({ key }),
      metrics: registry,
      signal,
      triggers,
      failures,
    }
  }

  /** The reason why it had to end, when its time was up. */
  get timedOut(): RuntimeError | undefined {
    return this.#timedOut
  }

  [Symbol.dispose](): void {
    this.#dispose()
  }
}
