import type { Pod, Probe } from '@coxswain/api/core/v1'
import type { DeepReadonly } from '@coxswain/apimachinery/meta'
import { TaskGroup } from '@coxswain/kit'
import type { EventSubject } from '@coxswain/runtime'
import type { ContainerExit, PodIdentity, RunningContainer } from '../container-runtime.ts'
import { type ContainerRecord, partOf } from './container-record.ts'
import { type HookTarget, runHook } from './hooks.ts'
import { type ProbeType, probeContainer } from './probes.ts'
import { stopContainer } from './stop-container.ts'
import type { WorkerContext } from './worker-context.ts'

export interface LifeOptions {
  readonly context: WorkerContext
  readonly identity: PodIdentity
  readonly pod: () => DeepReadonly<Pod>
  /** Its readiness has changed. */
  readonly onProbe: () => void
  /** A liveness or startup probe has failed. */
  readonly onUnhealthy: (type: ProbeType, probe: DeepReadonly<Probe> | undefined) => void
  /** It has ended; called once. */
  readonly onExit: (exit: ContainerExit) => void
}

/** The termination message from a log: at most this many lines and characters. */
const fallbackLines = 80
const fallbackLimit = 2_048

/** A container from its start to its end: hooks, probes, stop, termination message. It maintains `ready` and `started` of its record. */
export class ContainerLife {
  readonly handle: RunningContainer
  readonly #record: ContainerRecord
  readonly #options: LifeOptions
  readonly #over: Promise<void>
  /** Only containers with hooks or probes have one. */
  #tasks: TaskGroup | undefined
  #isStopping = false

  constructor(record: ContainerRecord, handle: RunningContainer, options: LifeOptions) {
    this.handle = handle
    this.#record = record
    this.#options = options
    this.#over = this.#followToEnd()
  }

  get isStopping(): boolean {
    return this.#isStopping
  }

  /** False when the hook has failed. */
  async runPostStart(): Promise<boolean> {
    const hook = this.#record.container.lifecycle?.postStart
    if (!hook) return true
    try {
      await runHook(hook, this.#target(), this.#group().signal)
      return true
    } catch {
      return false
    }
  }

  startProbes(): void {
    const { context, onProbe, onUnhealthy } = this.#options
    const record = this.#record
    const { startupProbe, readinessProbe, livenessProbe } = record.container
    if (this.#isStopping) return
    if (this.handle.isSimulated ?? context.runtime.isSimulated) {
      this.#pretendToProbe()
      return
    }
    if (!startupProbe && !readinessProbe && !livenessProbe) return
    probeContainer(this.#target(), this.#group(), {
      onTrouble: (type, { message, isWarning, isError }) => {
        const how = isWarning ? 'warning' : isError ? 'errored and resulted in unknown state' : 'failed'
        const reason = isWarning ? 'ProbeWarning' : 'Unhealthy'
        if (!this.#isStopping)
          context.events.warning(this.#subject(), reason, `${type} probe ${how}: ${message}`)
      },
      onResult: (type, success) => {
        if (this.#isStopping) return
        if (type === 'Readiness') record.ready = success
        else if (success && type === 'Startup') {
          record.started = true
          record.ready = !record.container.readinessProbe
        } else if (!success) onUnhealthy(type, type === 'Startup' ? startupProbe : livenessProbe)
        onProbe()
      },
    })
  }

  endProbes(): void {
    this.#tasks?.abort()
  }

  /** Stops it within `grace` milliseconds, after `turn`. Resolves when it has ended and `onExit` has been called. */
  async stop(grace: number, turn?: Promise<unknown>): Promise<void> {
    if (this.#isStopping) return await this.#over
    this.#isStopping = true
    const { context } = this.#options
    const onHookFailure = () =>
      context.events.warning(this.#subject(), 'FailedPreStopHook', 'PreStopHook failed')
    await stopContainer(this.#target(), grace, { onHookFailure, signal: this.#tasks?.signal, turn })
    await this.#over
    await this.#tasks?.join().catch(() => {}) // an aborted probe
  }

  #subject(): EventSubject {
    return partOf(this.#options.pod(), this.#record)
  }

  #group(): TaskGroup {
    this.#tasks ??= new TaskGroup()
    return this.#tasks
  }

  #target(): HookTarget {
    const { context, identity } = this.#options
    const { runtime, env } = context
    return { pod: identity, container: this.#record.container, handle: this.handle, runtime, env }
  }

  /** Nothing can be probed: each probe succeeds as soon as it could have. */
  #pretendToProbe(): void {
    const { context, onProbe } = this.#options
    const record = this.#record
    const { ready } = this.handle
    const { startupProbe, readinessProbe } = record.container
    const [startup, readiness] = [record.started ? 0 : delayOf(startupProbe), delayOf(readinessProbe)]
    if (!ready && startup + readiness === 0) {
      record.started = true
      record.ready = true
      return
    }
    const { clock } = context.env
    this.#group().spawn(async signal => {
      if (ready) await ready
      if (startup > 0) await clock.sleep(startup, { signal })
      record.started = true
      if (startup > 0) onProbe()
      if (readiness > 0) await clock.sleep(readiness, { signal })
      if (signal.aborted || this.#isStopping) return
      record.ready = true
      onProbe()
    })
  }

  async #followToEnd(): Promise<void> {
    const exit = await this.handle.exited
    this.#isStopping = true
    this.endProbes()
    this.#options.onExit(await this.#withLastWords(exit))
  }

  /** The end of its log, where it left no termination message and its policy is FallbackToLogsOnError. */
  async #withLastWords(exit: ContainerExit): Promise<ContainerExit> {
    const { name, terminationMessagePolicy } = this.#record.container
    if (terminationMessagePolicy !== 'FallbackToLogsOnError' || exit.message || exit.exitCode === 0)
      return exit
    const { context, identity } = this.#options
    const decoder = new TextDecoder()
    let text = ''
    try {
      const container = { pod: identity, name, attempt: this.#record.restartCount }
      const { signal } = new AbortController()
      const options = { follow: false, timestamps: false, tailLines: fallbackLines, signal }
      for await (const chunk of context.runtime.readLog(container, options))
        text += decoder.decode(chunk, { stream: true })
    } catch {
      // its log was not kept
    }
    return text === '' ? exit : { ...exit, message: text.slice(-fallbackLimit) }
  }
}

/** From a container's start until a probe that always succeeds has succeeded often enough. */
function delayOf(probe: DeepReadonly<Probe> | undefined): number {
  if (!probe) return 0
  const { initialDelaySeconds = 0, periodSeconds = 10, successThreshold = 1 } = probe
  return (initialDelaySeconds + (successThreshold - 1) * periodSeconds) * 1000
}
