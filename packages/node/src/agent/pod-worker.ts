import type { Pod, PodStatus } from '@coxswain/api/core/v1'
import { type DeepReadonly, formatTime } from '@coxswain/apimachinery'
import { type Env, TaskGroup } from '@coxswain/kit'
import type { EventRecorder } from '@coxswain/runtime'
import type { ContainerRuntime, PodIdentity, RunningContainer } from '../container-runtime.ts'
import { BackOff, formatSeconds } from './back-off.ts'
import {
  type ContainerRecord,
  createRecord,
  createRecords,
  hasSucceeded,
  isTerminated,
} from './container-record.ts'
import { makeContainerSpec } from './container-spec.ts'
import { ConfigError, makeEnvironment } from './environment.ts'
import { runHook } from './hooks.ts'
import type { ImagePuller } from './image-puller.ts'
import { isRestarted, makePodStatus, phaseOf } from './pod-status.ts'
import { probeContainer } from './probes.ts'
import { resolveVolumes, type VolumeSources } from './volumes.ts'

/** What the workers of one agent share. */
export interface WorkerContext {
  readonly env: Env
  readonly runtime: ContainerRuntime
  readonly events: EventRecorder
  readonly images: ImagePuller
  readonly hostIP: string
  readonly podIP: string
  /** Variables that every container gets. */
  readonly services: ReadonlyMap<string, string>
  sourcesOf(pod: DeepReadonly<Pod>): VolumeSources
}

type ReadonlyPod = DeepReadonly<Pod>

/** How long after a failure the volumes and variables of a Pod are looked for again. */
const retryDelay = 2_000
/** How often files of running Pods are brought up to date. */
const refreshInterval = 60_000
const defaultGrace = 30_000

interface Life {
  readonly handle: RunningContainer
  /** Ends the container's probes. */
  readonly probes: TaskGroup
  stopping: boolean
}

/**
 * One Pod on this node: what it has to run, and what runs. `sync` is called again and again, never twice at once; what
 * happens in between (an exit, a probe's result) is noted in the records, and `wake` asks for another `sync`.
 *
 *   sync: volumes -> init containers, one by one -> containers -> status        deletion -> stop -> finished
 */
export class PodWorker {
  readonly identity: PodIdentity
  /** It had ended before this worker was made. */
  readonly wasOver: boolean
  readonly #context: WorkerContext
  readonly #wake: () => void
  readonly #records: ContainerRecord[]
  readonly #lives = new Map<string, Life>()
  readonly #backOff = new BackOff()
  #pod: ReadonlyPod
  #isPrepared = false
  #refreshed = 0
  #reason: string | undefined
  #message: string | undefined
  #stopping: { deadline: number; readonly done: Promise<void> } | undefined
  #isFinished = false

  constructor(pod: ReadonlyPod, context: WorkerContext, wake: () => void) {
    const { uid, name, namespace = '' } = pod.metadata
    this.identity = { uid, name, namespace }
    this.wasOver = pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed'
    this.#pod = pod
    this.#context = context
    this.#wake = wake
    this.#records = createRecords(pod, formatTime(context.env.clock.now()))
  }

  /** Nothing of it runs, and nothing will. */
  get isFinished(): boolean {
    return this.#isFinished
  }

  get pod(): ReadonlyPod {
    return this.#pod
  }

  findContainer(
    name: string,
  ): { readonly record: ContainerRecord; readonly handle?: RunningContainer } | undefined {
    const record = this.#records.find(({ container }) => container.name === name)
    if (!record) return undefined
    const handle = this.#lives.get(name)?.handle
    return { record, ...(handle && { handle }) }
  }

  /** Brings what runs closer to what the Pod says. Resolves with the milliseconds after which to look again, if any. */
  async sync(pod: ReadonlyPod): Promise<number | undefined> {
    this.#pod = pod
    this.#addEphemeral(pod)
    if (pod.metadata.deletionTimestamp) {
      this.stop((pod.metadata.deletionGracePeriodSeconds ?? defaultGrace / 1000) * 1000)
      return undefined
    }
    if (this.#stopping || this.#isFinished) return undefined
    const phase = this.#phase()
    if (phase === 'Succeeded' || phase === 'Failed') {
      this.#end()
      return undefined
    }
    const now = this.#context.env.clock.now()
    const left = this.#deadlineLeft(now)
    if (left !== undefined && left <= 0) {
      this.#reason = 'DeadlineExceeded'
      this.#message = 'Pod was active on the node longer than the specified deadline'
      this.#context.events.warning(pod, 'DeadlineExceeded', this.#message)
      this.#end()
      return undefined
    }
    if (!(await this.#prepare(now))) return retryDelay
    const waits = [refreshInterval]
    if (left !== undefined) waits.push(left)
    for (const record of this.#due()) {
      const wait = await this.#start(record)
      if (wait !== undefined) waits.push(wait)
    }
    return Math.min(...waits)
  }

  /** Containers for debugging come while the Pod runs. */
  #addEphemeral({ spec }: ReadonlyPod): void {
    for (const container of spec.ephemeralContainers ?? []) {
      if (this.#records.some(record => record.container.name === container.name)) continue
      this.#records.push(
        createRecord(this.#pod, container, 'ephemeral', formatTime(this.#context.env.clock.now())),
      )
    }
  }

  status(): PodStatus {
    const { hostIP, podIP, env } = this.#context
    return makePodStatus({
      pod: this.#pod,
      records: this.#records,
      phase: this.#phase(),
      hostIP,
      podIP,
      now: formatTime(env.clock.now()),
      isPrepared: this.#isPrepared && !this.#isFinished,
      ...(this.#reason !== undefined && { reason: this.#reason }),
      ...(this.#message !== undefined && { message: this.#message }),
    })
  }

  /** Stops every container within `grace` milliseconds; a later call may only shorten that. Resolves when they have ended. */
  stop(grace: number): Promise<void> {
    const { env } = this.#context
    const deadline = env.clock.monotonic() + grace
    if (!this.#stopping) {
      this.#stopping = { deadline, done: this.#stopAll(grace) }
      this.#stopping.done.finally(() => this.#wake())
    } else if (deadline < this.#stopping.deadline) {
      this.#stopping.deadline = deadline
      for (const { handle } of this.#lives.values()) void handle.stop(grace)
    }
    return this.#stopping.done
  }

  /** The Pod is over, not deleted: its sidecars, and what a deadline cuts off, are stopped; the records stay. */
  #end(): void {
    const grace = (this.#pod.spec.terminationGracePeriodSeconds ?? defaultGrace / 1000) * 1000
    if (this.#lives.size > 0) void this.stop(grace)
    else this.#isFinished = true
  }

  async #stopAll(grace: number): Promise<void> {
    const kill = async (roles: readonly ContainerRecord['role'][]) =>
      await Promise.all(
        this.#records
          .filter(({ role, container }) => roles.includes(role) && this.#lives.has(container.name))
          .map(record => this.#kill(record, grace, `Stopping container ${record.container.name}`)),
      )
    await kill(['main', 'init', 'ephemeral'])
    await kill(['sidecar'])
    this.#isFinished = true
  }

  #phase(): NonNullable<PodStatus['phase']> {
    if (this.#reason === 'DeadlineExceeded') return 'Failed'
    const old = this.#pod.status?.phase
    if (old === 'Succeeded' || old === 'Failed') return old
    const phase = phaseOf(this.#pod, this.#records)
    // What is being stopped for good is not restarted: it ends as its containers ended.
    if (!this.#isFinished || phase !== 'Running') return phase
    const mains = this.#records.filter(({ role }) => role === 'main')
    return mains.every(hasSucceeded) ? 'Succeeded' : 'Failed'
  }

  #deadlineLeft(now: number): number | undefined {
    const { activeDeadlineSeconds } = this.#pod.spec
    const { startTime } = this.#pod.status ?? {}
    if (activeDeadlineSeconds === undefined || !startTime) return undefined
    return Date.parse(startTime) + activeDeadlineSeconds * 1000 - now
  }

  /** Writes volumes. False when something they need is not there. */
  async #prepare(now: number): Promise<boolean> {
    if (this.#isPrepared && now - this.#refreshed < refreshInterval) return true
    const { runtime, events } = this.#context
    try {
      const volumes = await resolveVolumes(this.#pod, this.#context.sourcesOf(this.#pod))
      await runtime.writeVolumes(this.identity, volumes)
      this.#isPrepared = true
    } catch (error) {
      if (!this.#isPrepared) events.warning(this.#pod, 'FailedMount', messageOf(error))
    }
    this.#refreshed = now
    return this.#isPrepared
  }

  /** The containers that have to be started now. */
  #due(): ContainerRecord[] {
    const due: ContainerRecord[] = []
    const hasBegun = this.#records.some(
      ({ role, state, lastState }) =>
        role === 'main' && (state.running || state.terminated || lastState?.terminated),
    )
    for (const record of this.#records) {
      const isIdle = !this.#lives.has(record.container.name)
      if (record.role === 'init') {
        if (hasBegun || hasSucceeded(record)) continue
        if (isIdle && (!isTerminated(record) || isRestarted(this.#pod, record))) due.push(record)
        return due
      }
      if (isIdle && (!isTerminated(record) || isRestarted(this.#pod, record))) due.push(record)
      if (record.role === 'sidecar' && !record.started && !hasBegun) return due
    }
    return due
  }

  /** Resolves with the milliseconds after which to try again; undefined when it has been started. */
  async #start(record: ContainerRecord): Promise<number | undefined> {
    const { container } = record
    const { env, runtime, events, images } = this.#context
    const now = env.clock.now()
    const ended = record.state.terminated ?? (record.state.waiting && record.lastState?.terminated)
    if (ended) {
      const since = Date.parse(ended.finishedAt ?? '') || 0
      const delay = this.#backOff.current(container.name, since, now)
      if (delay !== undefined) {
        this.#waitInBackOff(record, delay)
        return since + delay - now
      }
    }
    const pulled = await images.pull(this.#pod, container)
    if (!pulled.ok) {
      this.#await(record, pulled.reason, pulled.message)
      return pulled.retryAfter
    }
    record.imageID = pulled.id
    let handle: RunningContainer
    const attempt = ended ? record.restartCount + 1 : record.restartCount
    try {
      const variables = await makeEnvironment(
        // The addresses are known now, though the status may not have been written yet.
        { ...this.#pod, status: this.status() } as ReadonlyPod,
        container,
        this.#context.sourcesOf(this.#pod),
        this.#context.services,
      )
      const spec = makeContainerSpec(this.#pod, container, variables)
      handle = await runtime.startContainer({ ...spec, pod: this.identity, attempt })
    } catch (error) {
      const isConfig = error instanceof ConfigError
      const message = messageOf(error)
      events.warning(this.#pod, 'Failed', `Error: ${message}`)
      if (isConfig) {
        this.#await(record, 'CreateContainerConfigError', message)
        return retryDelay
      }
      this.#backOff.next(container.name, now)
      record.restartCount = attempt
      this.#terminated(record, {
        exitCode: 128,
        reason: 'StartError',
        message,
        startedAt: '1970-01-01T00:00:00Z',
      })
      this.#wake()
      return undefined
    }
    if (ended) this.#backOff.next(container.name, now)
    record.restartCount = attempt
    await this.#run(record, handle)
    return undefined
  }

  #waitInBackOff(record: ContainerRecord, delay: number): void {
    const { name, namespace, uid } = this.identity
    const who = `${name}_${namespace}(${uid})`
    const message = `back-off ${formatSeconds(delay)} restarting failed container=${record.container.name} pod=${who}`
    if (record.state.waiting?.reason === 'CrashLoopBackOff') return
    const text = `Back-off restarting failed container ${record.container.name} in pod ${who}`
    this.#context.events.warning(this.#pod, 'BackOff', text)
    this.#await(record, 'CrashLoopBackOff', message)
  }

  #await(record: ContainerRecord, reason: string, message: string): void {
    if (record.state.terminated) record.lastState = record.state
    record.state = { waiting: { reason, ...(message !== '' && { message }) } }
  }

  async #run(record: ContainerRecord, handle: RunningContainer): Promise<void> {
    const { container } = record
    const { env, runtime, events } = this.#context
    const startedAt = formatTime(env.clock.now())
    if (record.state.terminated) record.lastState = record.state
    record.containerID = `${runtime.name}://${handle.id}`
    record.state = { running: { startedAt } }
    record.started = !container.startupProbe
    record.ready = record.started && !container.readinessProbe
    const life: Life = { handle, probes: new TaskGroup(), stopping: false }
    this.#lives.set(container.name, life)
    events.normal(this.#pod, 'Created', 'Container created')
    events.normal(this.#pod, 'Started', 'Container started')
    void handle.exited.then(({ exitCode, signal, message }) => {
      life.probes.abort()
      this.#lives.delete(container.name)
      this.#terminated(record, {
        exitCode,
        reason: exitCode === 0 ? 'Completed' : 'Error',
        startedAt,
        containerID: record.containerID!,
        ...(signal !== undefined && { signal }),
        ...(message && { message }),
      })
      this.#wake()
    })
    const hook = container.lifecycle?.postStart
    if (hook) {
      const target = { pod: this.identity, container, handle, runtime, env }
      try {
        await runHook(hook, target, life.probes.signal)
      } catch {
        if (this.#lives.get(container.name) !== life) return
        events.warning(this.#pod, 'FailedPostStartHook', 'PostStartHook failed')
        await this.#kill(record, this.#grace(), 'FailedPostStartHook')
        return
      }
    }
    this.#probe(record, life)
  }

  #terminated(record: ContainerRecord, exit: NonNullable<ContainerRecord['state']['terminated']>): void {
    const finishedAt = formatTime(this.#context.env.clock.now())
    if (record.state.terminated) record.lastState = record.state
    record.state = { terminated: { ...exit, finishedAt } }
    record.ready = false
    record.started = false
  }

  #probe(record: ContainerRecord, life: Life): void {
    const { container } = record
    const { env, runtime, events } = this.#context
    const target = { pod: this.identity, container, handle: life.handle, runtime, env }
    probeContainer(target, life.probes, {
      onFailure: (type, message) =>
        events.warning(this.#pod, 'Unhealthy', `${type} probe failed: ${message}`),
      onResult: (type, success) => {
        if (life.stopping) return
        if (type === 'Readiness') record.ready = success
        else if (success && type === 'Startup') {
          record.started = true
          record.ready = !container.readinessProbe
        } else if (!success) {
          const probe = type === 'Startup' ? container.startupProbe : container.livenessProbe
          const text = `Container ${container.name} failed ${type.toLowerCase()} probe, will be restarted`
          void this.#kill(record, this.#grace(probe?.terminationGracePeriodSeconds), text)
        }
        this.#wake()
      },
    })
  }

  #grace(own?: number): number {
    return (own ?? this.#pod.spec.terminationGracePeriodSeconds ?? defaultGrace / 1000) * 1000
  }

  /** The hook before the stop, then the stop, within `grace` together; at least two seconds are left for the stop. */
  async #kill(record: ContainerRecord, grace: number, message: string): Promise<void> {
    const { container } = record
    const life = this.#lives.get(container.name)
    if (!life || life.stopping) return
    life.stopping = true
    const { env, runtime, events } = this.#context
    events.normal(this.#pod, 'Killing', message)
    const started = env.clock.monotonic()
    const hook = container.lifecycle?.preStop
    if (hook && grace > 0) {
      const target = { pod: this.identity, container, handle: life.handle, runtime, env }
      const late = new AbortController()
      const timer = env.clock.after(grace, () => late.abort())
      try {
        await runHook(hook, target, AbortSignal.any([late.signal, life.probes.signal]))
      } catch {
        events.warning(this.#pod, 'FailedPreStopHook', 'PreStopHook failed')
      } finally {
        timer.cancel()
      }
    }
    life.probes.abort()
    const left = grace - (env.clock.monotonic() - started)
    await life.handle.stop(grace === 0 ? 0 : Math.max(left, 2_000), container.lifecycle?.stopSignal)
    await life.handle.exited
    await life.probes.join().catch(() => {}) // a probe that was cut off
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
