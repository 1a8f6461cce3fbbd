import { parseKey } from '@coxswain/apimachinery/meta'
import type { LogFields, Logger, Span, Timer } from '@coxswain/kit'
import type { ControllerDependencies } from '../controller-dependencies.ts'
import { RuntimeError } from '../errors.ts'
import type { ApiCall, OperatorClient } from '../operator-client.ts'
import type { ReconcileContext } from '../reconcile.ts'
import type { Trigger } from '../trigger.ts'
import { createCachedClient } from './cached-client.ts'
import { WarningNotice } from './warning-notice.ts'

/** The most calls of one reconcile that its record has: records are kept. */
const mostCalls = 1_000

export interface AttemptOptions {
  readonly key: string
  readonly triggers: readonly Trigger[]
  readonly failures: number
  /** Milliseconds; undefined for no limit. */
  readonly timeout: number | undefined
  /** Where traces are made. */
  readonly span: Span | undefined
}

/**
 * One call of a reconciler: its context and its record. Most reconciles find nothing to do: they
 * must be cheap, and nothing that lives longer may refer to them, or it would keep them alive until the next full
 * garbage collection.
 */
export class Attempt implements Disposable {
  readonly context: ReconcileContext
  /** The first {@link mostCalls} calls to the server, in the order in which they ended. */
  readonly calls: ApiCall[] = []
  readonly #events: WarningNotice
  readonly #controller = new AbortController()
  readonly #timer: Timer | undefined
  #timedOut: RuntimeError | undefined

  constructor(deps: ControllerDependencies, options: AttemptOptions) {
    const { env, events, guard, registry } = deps
    const { clock, random, log } = env
    const { key, triggers, failures, timeout, span } = options
    if (timeout !== undefined)
      this.#timer = clock.after(timeout, () => {
        const text = `the reconcile took longer than ${timeout} ms`
        this.#timedOut = new RuntimeError('ReconcileTimeout', text)
        this.stop(this.#timedOut)
      })
    const { signal } = this.#controller
    this.#events = new WarningNotice(events)
    const onCall = (call: ApiCall): void => {
      if (this.calls.length < mostCalls) this.calls.push(call)
    }
    const clientOf = ({ client, cache }: Pick<ControllerDependencies, 'client' | 'cache'>): OperatorClient =>
      createCachedClient({
        client,
        cache,
        clock,
        signal,
        onCall,
        ...(guard && { guard }),
        ...(span && { span }),
      })
    this.context = {
      key: parseKey(key),
      client: clientOf(deps),
      cluster: name => clientOf(deps.clusters.get(name)),
      clock,
      random,
      events: this.#events,
      log: new KeyLogger(log, key),
      metrics: registry,
      signal,
      triggers,
      failures,
      ...(span && { span }),
    }
  }

  /** The abort reason after a timeout. */
  get timedOut(): RuntimeError | undefined {
    return this.#timedOut
  }

  /** Whether it has recorded a Warning event. */
  get hasWarned(): boolean {
    return this.#events.hasWarned
  }

  /** Ends it now. */
  stop(reason: unknown): void {
    this.#controller.abort(reason)
  }

  [Symbol.dispose](): void {
    this.#timer?.cancel()
  }
}

/** A logger with the key as a field; created lazily, since few reconciles log. */
class KeyLogger implements Logger {
  readonly #parent: Logger
  readonly #key: string
  #log: Logger | undefined

  constructor(parent: Logger, key: string) {
    this.#parent = parent
    this.#key = key
  }

  debug(message: string, fields?: LogFields): void {
    this.#own.debug(message, fields)
  }

  info(message: string, fields?: LogFields): void {
    this.#own.info(message, fields)
  }

  warn(message: string, fields?: LogFields): void {
    this.#own.warn(message, fields)
  }

  error(message: string, fields?: LogFields): void {
    this.#own.error(message, fields)
  }

  child(fields: LogFields): Logger {
    return this.#own.child(fields)
  }

  get #own(): Logger {
    this.#log ??= this.#parent.child({ key: this.#key })
    return this.#log
  }
}
