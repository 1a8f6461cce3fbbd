import type { PodStatus } from '@coxswain/api/core/v1'
import { formatTime } from '@coxswain/apimachinery/time'
import { isTerminalPhase, type PodView } from '@coxswain/kinds'
import { minOf } from '@coxswain/kit'
import type { ContainerExit, PodIdentity, RunningContainer } from '../container-runtime.ts'
import { ContainerLife } from './container-life.ts'
import { findDue, stopInOrder } from './container-order.ts'
import {
  type ContainerRecord,
  createRecord,
  createRecords,
  firstState,
  hasRun,
  hasSucceeded,
  isTerminated,
  keepLastState,
  noteExit,
  noteStart,
  partOf,
} from './container-record.ts'
import { makeContainerSpec } from './container-spec.ts'
import { Launcher } from './launcher.ts'
import type { Rejection } from './node-load.ts'
import { haveMainsEnded, makePodStatus, phaseOf } from './pod-status.ts'
import { PodVolumes } from './pod-volumes.ts'
import { Resizing, requestOf } from './resize.ts'
import { findRestartRule, isRestarted } from './restart-policy.ts'
import { StorageLimits } from './storage-limits.ts'
import { tellOfUnsupported } from './unsupported-fields.ts'
import type { WorkerContext } from './worker-context.ts'

type Phase = NonNullable<PodStatus['phase']>

/** How long a status write waits for containers that are being started. */
const holdTime = 1_000
/** How long a deferred resize waits before it is retried. */
const resizeRetry = 30_000
const defaultGrace = 30
/** The kubelet's grace period for immediate eviction. */
const evictionGrace = 1_000
/** The terminated state of a container that never ran. */
const startError = { exitCode: 128, reason: 'StartError', startedAt: '1970-01-01T00:00:00Z' }
const noVariables: ReadonlyMap<string, string> = new Map()

/**
 * One Pod on this node: desired and running containers. `sync` is called repeatedly, never concurrently;
 * events in between (a start, an exit, a probe's result) are kept in the records, and `wake` requests another `sync`.
 *
 *   sync: volumes -> init containers, one by one -> containers -> status        deletion -> stop -> finished
 */
export class PodWorker {
  readonly identity: PodIdentity
  /** The Pod had ended before this worker was created. */
  readonly wasOver: boolean
  /** The resourceVersion of the last status write: its watch event is ignored. */
  written: string | undefined
  readonly #context: WorkerContext
  readonly #wake: () => void
  readonly #records: ContainerRecord[]
  readonly #lives = new Map<string, ContainerLife>()
  readonly #launcher: Launcher
  readonly #volumes: PodVolumes
  readonly #storage: StorageLimits
  readonly #resizing: Resizing
  readonly #startTime: string
  readonly #podIP: string
  #pod: PodView
  #generation: number | undefined
  #hasBegun: boolean
  #isRestartingAll = false
  #heldSince: number | undefined
  #reason: string | undefined
  #message: string | undefined
  #stopping: { deadline: number; readonly done: Promise<void> } | undefined
  #isFinished = false

  constructor(pod: PodView, context: WorkerContext, wake: () => void) {
    const { uid, name, namespace = '' } = pod.metadata
    const { runtime, env, addresses, hostIP } = context
    this.identity = { uid, name, namespace }
    this.wasOver = isTerminalPhase(pod.status?.phase ?? 'Pending')
    this.#pod = pod
    this.#generation = pod.metadata.generation
    this.#context = context
    this.#wake = wake
    const now = formatTime(env.clock.now())
    this.#startTime = pod.status?.startTime ?? now
    this.#podIP =
      !addresses || pod.spec.hostNetwork || this.wasOver
        ? (pod.status?.podIP ?? hostIP)
        : addresses.take(uid, pod.spec.nodeName ?? '', pod.status?.podIP)
    const isNew = pod.status?.startTime === undefined
    const rejection = this.wasOver ? undefined : context.load.take(pod, isNew)
    const adopts = runtime.adoptContainer !== undefined
    this.#records = rejection ? [] : createRecords(pod, { now, adopts })
    this.#volumes = new PodVolumes(context, this.identity)
    this.#storage = new StorageLimits(context, this.identity)
    this.#resizing = new Resizing(context)
    if (rejection) this.#reject(rejection)
    else if (isNew) tellOfUnsupported(pod, context)
    this.#launcher = new Launcher({
      context,
      identity: this.identity,
      pod: () => this.#pod,
      status: () => this.status(),
      onRunning: (record, handle) => this.#run(record, handle),
      onFailed: (record, message) => noteExit(record, { ...startError, message }, env.clock.now()),
      onSettled: wake,
    })
    this.#hasBegun = this.#records.some(record => record.role === 'main' && hasRun(record))
    for (const record of this.#records) if (record.state.running && !this.wasOver) this.#adopt(record)
  }

  /** Nothing of the Pod runs, and nothing will. */
  get isFinished(): boolean {
    return this.#isFinished
  }

  get pod(): PodView {
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

  /** The allocated resources of its containers, in thousandths. */
  given(resource: string): number {
    if (this.#isFinished) return 0
    const mains = this.#records.filter(({ role }) => role === 'main')
    return mains.reduce((sum, { container }) => sum + requestOf(container, resource), 0)
  }

  /** Moves the running containers towards the spec. Resolves with the milliseconds after which to sync again, if any. */
  async sync(pod: PodView): Promise<number | undefined> {
    this.#pod = pod
    if (pod.metadata.generation !== this.#generation || this.#resizing.pending) this.#takeSpec(pod)
    if (pod.metadata.deletionTimestamp) {
      void this.stop(Number(pod.metadata.deletionGracePeriodSeconds ?? defaultGrace) * 1000)
      return undefined
    }
    if (this.#stopping || this.#isFinished) return undefined
    if (isTerminalPhase(this.#phase()) || haveMainsEnded(pod, this.#records)) {
      this.#end()
      return undefined
    }
    const now = this.#context.env.clock.now()
    const left = this.#deadlineLeft(now)
    if (left !== undefined && left <= 0) {
      this.#reason = 'DeadlineExceeded'
      this.#message = 'Pod was active on the node longer than the specified deadline'
      this.#context.events.normal(pod, 'DeadlineExceeded', this.#message)
      this.#end()
      return undefined
    }
    if (!(await this.#volumes.prepare(pod))) return this.#volumes.retryAfter
    const excess = await this.#storage.check(pod)
    if (excess !== undefined) {
      this.#evict(excess)
      return undefined
    }
    const waits = [
      left,
      this.#storage.checkAfter(pod),
      this.#volumes.refreshAfter(pod),
      this.#resizing.pending && resizeRetry,
      ...this.#due().map(record => this.#launcher.begin(record)),
    ].filter(wait => wait !== undefined)
    return waits.length === 0 ? undefined : minOf(waits)
  }

  /** How many milliseconds to hold back the status write, because the status is about to change. After writing, call `markWritten`. */
  get holdsFor(): number {
    if (!this.#launcher.isBusy || this.#stopping) return 0
    const now = this.#context.env.clock.monotonic()
    this.#heldSince ??= now
    return Math.max(0, this.#heldSince + holdTime - now)
  }

  markWritten(resourceVersion: string | undefined): void {
    this.#heldSince = undefined
    this.written = resourceVersion
  }

  status(): PodStatus {
    const { hostIP, env } = this.#context
    const phase = this.#phase()
    const { phase: old = 'Pending' } = this.#pod.status ?? {}
    // The phase becomes terminal, with its reason, only when no container runs any more.
    const isEnding = isTerminalPhase(phase) && !isTerminalPhase(old) && this.#lives.size > 0
    return makePodStatus({
      pod: this.#pod,
      records: this.#records,
      phase: isEnding ? old : phase,
      hostIP,
      podIP: this.#podIP,
      now: formatTime(env.clock.now()),
      startTime: this.#startTime,
      isPrepared: this.#volumes.arePrepared && !this.#isFinished,
      isRestartingAll: this.#isRestartingAll,
      ...(this.#resizing.pending && { resizePending: this.#resizing.pending }),
      ...(this.#reason !== undefined && !isEnding && { reason: this.#reason }),
      ...(this.#message !== undefined && !isEnding && { message: this.#message }),
    })
  }

  /** Stops every container within `grace` milliseconds; a later call may only shorten the grace period. Resolves when they have ended. */
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

  /** Detaches from the containers, which keep running. Resolves when nothing is in progress. */
  async abandon(): Promise<void> {
    this.#launcher.abort()
    for (const life of this.#lives.values()) life.endProbes()
    await this.#launcher.settled()
  }

  /** Ephemeral containers are added and resources are resized while the Pod runs. */
  #takeSpec(pod: PodView): void {
    this.#generation = pod.metadata.generation
    const options = { now: formatTime(this.#context.env.clock.now()), adopts: false }
    for (const container of pod.spec.ephemeralContainers ?? []) {
      if (this.#records.some(record => record.container.name === container.name)) continue
      this.#records.push(createRecord(pod, container, 'ephemeral', options))
    }
    for (const record of this.#resizing.take(pod, this.#records)) {
      const text = `Container ${record.container.name} resize requires restart`
      void this.#kill(record, this.#grace(), text)
    }
  }

  /** Fails a Pod that does not fit on this node. */
  #reject({ reason, message }: Rejection): void {
    this.#reason = reason
    this.#message = `Pod was rejected: ${message}`
    this.#context.events.warning(this.#pod, reason, message)
    this.#finish()
  }

  /** Fails a Pod that exceeds its storage limits. */
  #evict(message: string): void {
    this.#reason = 'Evicted'
    this.#message = message
    this.#context.events.warning(this.#pod, 'Evicted', message)
    void this.stop(evictionGrace)
  }

  /** The Pod has ended but is not deleted: its sidecars and overdue containers are stopped; the records stay. */
  #end(): void {
    if (this.#lives.size > 0 || this.#launcher.isBusy) void this.stop(this.#grace())
    else this.#finish()
  }

  #finish(): void {
    this.#isFinished = true
    const { addresses, load } = this.#context
    addresses?.release(this.identity.uid)
    load.release(this.identity.uid)
  }

  async #stopAll(grace: number): Promise<void> {
    this.#launcher.abort()
    await this.#killAll(grace)
    this.#finish()
  }

  async #killAll(grace: number): Promise<void> {
    const { clock } = this.#context.env
    const deadline = clock.monotonic() + grace
    const killEvery = () => {
      const left = Math.max(0, deadline - clock.monotonic())
      return stopInOrder(this.#records, (record, turn) =>
        this.#kill(record, left, `Stopping container ${record.container.name}`, turn),
      )
    }
    // A start waits for its hook, which ends with the container; other starts may still succeed before they see the stop.
    await Promise.all([killEvery(), this.#launcher.settled()])
    await killEvery()
  }

  #phase(): Phase {
    if (this.#reason !== undefined) return 'Failed'
    const old = this.#pod.status?.phase
    if (old !== undefined && isTerminalPhase(old)) return old
    const phase = phaseOf(this.#pod, this.#records)
    // A Pod that is stopped for good is not restarted: its phase follows from how its containers ended.
    if (!this.#isFinished || phase !== 'Running') return phase
    const mains = this.#records.filter(({ role }) => role === 'main')
    return mains.every(hasSucceeded) ? 'Succeeded' : 'Failed'
  }

  #deadlineLeft(now: number): number | undefined {
    const { activeDeadlineSeconds } = this.#pod.spec
    if (activeDeadlineSeconds === undefined) return undefined
    return Date.parse(this.#startTime) + Number(activeDeadlineSeconds) * 1000 - now
  }

  #due(): readonly ContainerRecord[] {
    if (this.#isRestartingAll) return []
    return findDue(this.#records, this.#hasBegun, record => {
      const { name } = record.container
      if (this.#lives.has(name) || this.#launcher.isStarting(name)) return false
      return !isTerminated(record) || isRestarted(this.#pod, record)
    })
  }

  async #run(record: ContainerRecord, handle: RunningContainer): Promise<void> {
    const { container, role } = record
    const { env, runtime, events } = this.#context
    const startedAt = formatTime(env.clock.now())
    noteStart(record, handle, runtime.name, startedAt)
    if (role === 'main') this.#hasBegun = true
    events.normal(partOf(this.#pod, record), 'Created', 'Container created')
    events.normal(partOf(this.#pod, record), 'Started', 'Container started')
    const life = this.#follow(record, handle, startedAt)
    if (await life.runPostStart()) life.startProbes()
    else if (this.#lives.get(container.name) === life) {
      events.warning(partOf(this.#pod, record), 'FailedPostStartHook', 'PostStartHook failed')
      await this.#kill(record, this.#grace(), 'FailedPostStartHook')
    }
  }

  /** An earlier kubelet started it. */
  #adopt(record: ContainerRecord): void {
    const { startedAt = this.#startTime } = record.state.running ?? {}
    const spec = makeContainerSpec(this.#pod, record.container, record.role, noVariables)
    const container = { ...spec, pod: this.identity, attempt: record.restartCount }
    const handle = this.#context.runtime.adoptContainer!(container, Date.parse(startedAt ?? ''))
    const life = this.#follow(record, handle, startedAt ?? this.#startTime)
    if (!record.ready) life.startProbes()
  }

  #follow(record: ContainerRecord, handle: RunningContainer, startedAt: string): ContainerLife {
    const life = new ContainerLife(record, handle, {
      context: this.#context,
      identity: this.identity,
      pod: () => this.#pod,
      onProbe: () => this.#wake(),
      onUnhealthy: (type, probe) => {
        const text = `Container ${record.container.name} failed ${type.toLowerCase()} probe, will be restarted`
        void this.#kill(record, this.#grace(probe?.terminationGracePeriodSeconds), text)
      },
      onExit: exit => this.#exited(record, exit, startedAt),
    })
    this.#lives.set(record.container.name, life)
    return life
  }

  #exited(record: ContainerRecord, { exitCode, message }: ContainerExit, startedAt: string): void {
    this.#lives.delete(record.container.name)
    const exit = {
      exitCode,
      reason: exitCode === 0 ? 'Completed' : 'Error',
      startedAt,
      containerID: record.containerID!,
      ...(message && { message }),
    }
    noteExit(record, exit, this.#context.env.clock.now())
    const rule = record.role === 'ephemeral' ? undefined : findRestartRule(record.container, exitCode)
    if (rule?.action === 'RestartAllContainers' && !this.#stopping) void this.#restartAll()
    this.#wake()
  }

  /** Stops all containers, and starts again with the first init container. */
  async #restartAll(): Promise<void> {
    if (this.#isRestartingAll) return
    this.#isRestartingAll = true
    await this.#killAll(this.#grace())
    this.#isRestartingAll = false
    if (this.#stopping) return
    this.#hasBegun = false
    for (const record of this.#records) {
      if (record.role === 'ephemeral') continue
      keepLastState(record)
      record.state = firstState(this.#pod)
    }
    this.#wake()
  }

  #grace(own?: number): number {
    return Number(own ?? this.#pod.spec.terminationGracePeriodSeconds ?? defaultGrace) * 1000
  }

  /** Resolves when the container has ended and its record says so. */
  async #kill(
    record: ContainerRecord,
    grace: number,
    message: string,
    turn?: Promise<unknown>,
  ): Promise<void> {
    const life = this.#lives.get(record.container.name)
    if (!life || life.isStopping) return
    this.#context.events.normal(partOf(this.#pod, record), 'Killing', message)
    await life.stop(grace, turn)
  }
}
