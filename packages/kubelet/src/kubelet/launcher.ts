import type { Pod, PodStatus } from '@coxswain/api/core/v1'
import type { DeepReadonly } from '@coxswain/apimachinery/meta'
import type { PodIdentity, RunningContainer } from '../container-runtime.ts'
import { BackOff, formatSeconds } from './back-off.ts'
import { type ContainerRecord, lastExitOf, partOf } from './container-record.ts'
import { launchContainer } from './launch.ts'
import type { WorkerContext } from './worker-context.ts'

export interface LauncherOptions {
  readonly context: WorkerContext
  readonly identity: PodIdentity
  readonly pod: () => DeepReadonly<Pod>
  readonly status: () => PodStatus
  /** It runs. Resolves when its start is over, hooks included. */
  readonly onRunning: (record: ContainerRecord, handle: RunningContainer) => Promise<void>
  /** It could not be started. */
  readonly onFailed: (record: ContainerRecord, message: string) => void
  /** A start is over, one way or another. */
  readonly onSettled: () => void
}

/** The back-off while something is missing, doubling up to the kubelet's limit. */
const firstRetry = 2_000
const longestRetry = 10_000

/** Starts the containers of one Pod: each after its back-off, with retries while something is missing. */
export class Launcher {
  readonly #options: LauncherOptions
  /** Containers that are being started. */
  readonly #launches = new Map<string, Promise<void>>()
  /** When to retry containers for which something was missing. */
  readonly #retries = new Map<string, number>()
  /** How often in a row something was missing. */
  readonly #misses = new Map<string, number>()
  readonly #backOff = new BackOff()
  #aborter: AbortController | undefined

  constructor(options: LauncherOptions) {
    this.#options = options
  }

  get isBusy(): boolean {
    return this.#launches.size > 0
  }

  isStarting(name: string): boolean {
    return this.#launches.has(name)
  }

  /** The milliseconds after which it may be started; undefined when it is being started. */
  begin(record: ContainerRecord): number | undefined {
    const { name } = record.container
    const now = this.#options.context.env.clock.now()
    const ended = lastExitOf(record)
    if (ended) {
      const since = Date.parse(ended.finishedAt ?? '') || 0
      const delay = this.#backOff.current(name, since, now)
      if (delay !== undefined) {
        this.#waitInBackOff(record, delay)
        return since + delay - now
      }
    }
    const retryAt = this.#retries.get(name) ?? 0
    if (retryAt > now) return retryAt - now
    const launch = this.#launch(record, ended !== undefined).finally(() => {
      this.#launches.delete(name)
      this.#options.onSettled()
    })
    this.#launches.set(name, launch)
    return undefined
  }

  /** Cancels starts in progress. Call `settled` to wait for them. */
  abort(): void {
    this.#aborter?.abort()
  }

  /** Resolves when nothing is being started. */
  async settled(): Promise<void> {
    await Promise.all(this.#launches.values())
  }

  /** Resolves when it has been started, or has failed to start. */
  async #launch(record: ContainerRecord, isRestart: boolean): Promise<void> {
    const { context, identity, pod, status, onRunning, onFailed } = this.#options
    const { name, env } = record.container
    const { clock } = context.env
    this.#aborter ??= new AbortController()
    const { signal } = this.#aborter
    const attempt = isRestart ? record.restartCount + 1 : record.restartCount
    const seen = (): DeepReadonly<Pod> =>
      context.filesOf || env?.some(({ valueFrom }) => valueFrom?.fieldRef)
        ? ({ ...pod(), status: status() } as DeepReadonly<Pod>)
        : pod()
    const result = await launchContainer({ identity, pod: seen, record, attempt, signal }, context)
    if (result.type === 'aborted') return
    if (result.type === 'waiting') {
      setWaiting(record, result.reason, result.message)
      const count = this.#misses.get(name) ?? 0
      this.#misses.set(name, count + 1)
      const delay = result.retryAfter ?? Math.min(firstRetry * 2 ** count, longestRetry)
      this.#retries.set(name, clock.now() + delay)
      return
    }
    this.#retries.delete(name)
    this.#misses.delete(name)
    record.imageID = result.imageID
    record.restartCount = attempt
    if (isRestart || result.type === 'failed') this.#backOff.next(name, clock.now())
    if (result.type === 'running') await onRunning(record, result.handle)
    else onFailed(record, result.message)
  }

  #waitInBackOff(record: ContainerRecord, delay: number): void {
    const { context, identity, pod } = this.#options
    const { name, namespace, uid } = identity
    const who = `${name}_${namespace}(${uid})`
    if (record.state.waiting?.reason === 'CrashLoopBackOff') return
    const text = `Back-off restarting failed container ${record.container.name} in pod ${who}`
    context.events.warning(partOf(pod(), record), 'BackOff', text)
    const message = `back-off ${formatSeconds(delay)} restarting failed container=${record.container.name} pod=${who}`
    setWaiting(record, 'CrashLoopBackOff', message)
  }
}

function setWaiting(record: ContainerRecord, reason: string, message: string): void {
  if (record.state.terminated) record.lastState = record.state
  record.state = { waiting: { reason, ...(message !== '' && { message }) } }
}
