import type { PodView } from '@coxswain/kinds'
import type { Clock, Timer } from '@coxswain/kit'
import type { ClusterEvent, QueuedPod, SchedulerHandle, SchedulerPlugin, Verdict } from './plugin.ts'
import { createPodInfo, type PodInfo } from './pod-info.ts'

export interface QueueOptions {
  readonly clock: Clock
  readonly handle: SchedulerHandle
  readonly before: (a: QueuedPod, b: QueuedPod) => boolean
  /** A verdict keeps a pod out of the active queue. */
  readonly admit: (pod: PodView) => Verdict | undefined
  /** The plug-in of that name in the pod's profile. */
  readonly pluginOf: (pod: PodView, name: string) => SchedulerPlugin | undefined
  /** The back-off after the first failure, in milliseconds; it doubles. @default 1000 */
  readonly initialBackoff?: number
  /** @default 10000 */
  readonly maxBackoff?: number
}

/** The maximum time that a pod stays unschedulable without an event, in milliseconds. */
const maxUnschedulableTime = 5 * 60_000

/** A pod that has missed more events than this while in flight is simply retried. */
const mostMissed = 100

/** Milliseconds between two flushes of unschedulable pods. */
const flushPeriod = 30_000

/** Pods whose back-off ends within the same window of milliseconds are ordered like active ones. */
const orderingWindow = 1_000

interface Entry {
  pod: PodInfo
  since: number
  attempts: number
  /**
   * Its state. `gated` and `unschedulable` pods wait for events, `backoff` ones for their back-off or until no other pod is
   * active, `error backoff` ones for their back-off only. Events are recorded for pods `in flight`, not for those `binding`.
   */
  place: 'ready' | 'backoff' | 'error backoff' | 'unschedulable' | 'gated' | 'in flight' | 'binding'
  /** The plug-ins that rejected it last. */
  rejectedBy: readonly string[]
  /** Those of them that wait for an external event: a helpful event ends the pod's back-off too. */
  pending: readonly string[]
  rejections: number
  /** Consecutive. */
  errors: number
  /** When it last failed. */
  failedAt: number
  /** When its back-off ends, in `backoff` or `error backoff`. */
  backoffEnd: number
  timer: Timer | undefined
  /** Events during its scheduling cycle. */
  missed: ClusterEvent[]
}

/**
 * Unscheduled pods: active ones in order, those in back-off, and unschedulable ones that wait for a change in the cluster.
 */
export class SchedulingQueue {
  readonly #options: Required<QueueOptions>
  readonly #entries = new Map<string, Entry>()
  /** Both in scheduling order. */
  readonly #ready: Entry[] = []
  readonly #backoff: Entry[] = []
  /** Those in `unschedulable`, `gated` and `in flight`, which receive events. */
  readonly #listening = new Set<Entry>()
  #waiter: (() => void) | undefined
  #timer: Timer | undefined
  #closed = false

  constructor(options: QueueOptions) {
    this.#options = { initialBackoff: 1_000, maxBackoff: 10_000, ...options }
  }

  add(pod: PodView): void {
    const existing = this.#entries.get(pod.metadata.uid)
    if (existing) {
      this.update(existing.pod.pod, pod)
      return
    }
    const entry: Entry = {
      pod: createPodInfo(pod),
      since: this.#options.clock.now(),
      attempts: 0,
      place: 'unschedulable',
      rejectedBy: [],
      pending: [],
      rejections: 0,
      errors: 0,
      failedAt: 0,
      backoffEnd: 0,
      timer: undefined,
      missed: [],
    }
    this.#entries.set(entry.pod.uid, entry)
    this.#makeReady(entry)
  }

  /** The pod has changed in a way that may matter to plug-ins; `changes` says how. */
  update(old: PodView, pod: PodView, changes: ClusterEvent['changes'] = new Set()): void {
    const entry = this.#entries.get(pod.metadata.uid)
    if (!entry) {
      this.add(pod)
      return
    }
    entry.pod = createPodInfo(pod)
    if (entry.place === 'ready') this.#makeReady(entry)
    else this.#notify(entry, { resource: 'UnscheduledPod', action: 'update', old, object: pod, changes })
  }

  /** A newer version of the pod without changes that matter to plug-ins. */
  refresh(pod: PodView): void {
    const entry = this.#entries.get(pod.metadata.uid)
    if (entry) entry.pod = { ...entry.pod, pod }
  }

  delete(uid: string): void {
    const entry = this.#entries.get(uid)
    if (!entry) return
    this.#leave(entry)
    this.#entries.delete(uid)
  }

  /**
   * The next pod; undefined when the queue is closed. If none is active, takes one in back-off. It is in flight until `done`,
   * `binding` or `failed`.
   */
  async pop(): Promise<QueuedPod | undefined> {
    while (!this.#closed) {
      const entry = this.#ready[0] ?? this.#backoff[0]
      if (entry) {
        this.#move(entry, 'in flight')
        entry.attempts++
        entry.missed = []
        return { pod: entry.pod, since: entry.since, attempts: entry.attempts }
      }
      await new Promise<void>(resolve => {
        this.#waiter = resolve
      })
    }
    return undefined
  }

  /** The pod is scheduled. */
  done(uid: string): void {
    this.delete(uid)
  }

  /** The pod is being bound: no event matters to it any more. */
  binding(uid: string): void {
    const entry = this.#entries.get(uid)
    if (entry?.place !== 'in flight') return
    this.#move(entry, 'binding')
    entry.missed = []
  }

  /**
   * The pod is not scheduled. If plug-ins rejected it, it is unschedulable until an event; otherwise it is retried after its
   * back-off. `pending` are those of the plug-ins that wait for an external event.
   */
  failed(uid: string, rejectedBy: readonly string[], pending: readonly string[] = []): void {
    const entry = this.#entries.get(uid)
    if (entry?.place !== 'in flight' && entry?.place !== 'binding') return
    const { missed } = entry
    entry.missed = []
    entry.rejectedBy = rejectedBy
    entry.pending = pending
    entry.failedAt = this.#options.clock.now()
    entry.since = entry.failedAt
    if (rejectedBy.length > 0) {
      entry.rejections++
      entry.errors = 0
    } else entry.errors++
    this.#move(entry, 'unschedulable')
    if (rejectedBy.length === 0 || missed.length > mostMissed) this.#startBackoff(entry)
    else for (const event of missed) this.#notify(entry, event)
    this.#flushLater()
  }

  /** Moves pods that the event may help out of unschedulable; `isMeant` restricts them. */
  move(event: ClusterEvent, isMeant?: (pod: PodInfo) => boolean): void {
    if (this.#listening.size === 0) return
    for (const entry of [...this.#listening]) if (!isMeant || isMeant(entry.pod)) this.#notify(entry, event)
  }

  /** The pod need not wait for an event. */
  activate(uid: string): void {
    const entry = this.#entries.get(uid)
    if (entry && entry.place !== 'in flight' && entry.place !== 'binding') this.#makeReady(entry)
  }

  get(uid: string): PodInfo | undefined {
    return this.#entries.get(uid)?.pod
  }

  close(): void {
    this.#closed = true
    this.#timer?.cancel()
    for (const { timer } of this.#entries.values()) timer?.cancel()
    this.#waiter?.()
    this.#waiter = undefined
  }

  #notify(entry: Entry, event: ClusterEvent): void {
    if (entry.place === 'in flight') {
      if (entry.missed.length <= mostMissed) entry.missed.push(event)
      return
    }
    if (entry.place !== 'unschedulable' && entry.place !== 'gated') return
    const helped = entry.rejectedBy.filter(name => this.#mayHelp(entry, name, event))
    if (helped.length === 0) return
    if (helped.some(name => entry.pending.includes(name))) this.#makeReady(entry)
    else this.#startBackoff(entry)
  }

  #mayHelp({ pod }: Entry, name: string, event: ClusterEvent): boolean {
    const wakesOn = this.#options.pluginOf(pod.pod, name)?.wakesOn
    return !wakesOn || wakesOn(event, pod.pod, this.#options.handle)
  }

  /** Active when its back-off ends, or before if no other pod is active. */
  #startBackoff(entry: Entry): void {
    const { clock, initialBackoff, maxBackoff } = this.#options
    const failures = entry.errors > 0 ? entry.errors : entry.rejections
    const backoff = failures === 0 ? 0 : Math.min(initialBackoff * 2 ** (failures - 1), maxBackoff)
    entry.backoffEnd = entry.failedAt + backoff
    const left = entry.backoffEnd - clock.now()
    if (left <= 0) {
      this.#makeReady(entry)
      return
    }
    if (!this.#admit(entry)) return
    this.#move(entry, entry.errors > 0 ? 'error backoff' : 'backoff')
    entry.timer = clock.after(left, () => this.#makeReady(entry))
    if (entry.place === 'backoff') this.#wake()
  }

  #makeReady(entry: Entry): void {
    if (!this.#admit(entry)) return
    this.#move(entry, 'ready')
    this.#wake()
  }

  #admit(entry: Entry): boolean {
    const verdict = this.#options.admit(entry.pod.pod)
    if (!verdict) return true
    this.#move(entry, 'gated')
    entry.rejectedBy = verdict.plugin === undefined ? [] : [verdict.plugin]
    return false
  }

  #wake(): void {
    this.#waiter?.()
    this.#waiter = undefined
  }

  #move(entry: Entry, place: Entry['place']): void {
    this.#leave(entry)
    entry.place = place
    if (place === 'ready') insert(this.#ready, entry, this.#options.before)
    else if (place === 'backoff') insert(this.#backoff, entry, this.#isRestedBefore)
    else if (place === 'unschedulable' || place === 'gated' || place === 'in flight')
      this.#listening.add(entry)
  }

  #leave(entry: Entry): void {
    entry.timer?.cancel()
    entry.timer = undefined
    if (entry.place === 'ready') remove(this.#ready, entry)
    else if (entry.place === 'backoff') remove(this.#backoff, entry)
    else this.#listening.delete(entry)
  }

  readonly #isRestedBefore = (a: Entry, b: Entry): boolean => {
    const difference = Math.floor(a.backoffEnd / orderingWindow) - Math.floor(b.backoffEnd / orderingWindow)
    return difference === 0 ? this.#options.before(a, b) : difference < 0
  }

  /** While any pod is unschedulable. */
  #flushLater(): void {
    if (this.#closed || this.#timer) return
    this.#timer = this.#options.clock.after(flushPeriod, () => {
      this.#timer = undefined
      const now = this.#options.clock.now()
      for (const entry of [...this.#listening])
        if (isWaitingForEvent(entry) && now - entry.failedAt > maxUnschedulableTime) this.#startBackoff(entry)
      if (this.#listening.size > 0) this.#flushLater()
    })
  }
}

/** Whether it waits for an event since it failed. */
function isWaitingForEvent({ place, attempts }: Entry): boolean {
  return place === 'unschedulable' || (place === 'gated' && attempts > 0)
}

function insert(list: Entry[], entry: Entry, before: (a: Entry, b: Entry) => boolean): void {
  let low = 0
  let high = list.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (before(entry, list[middle]!)) high = middle
    else low = middle + 1
  }
  list.splice(low, 0, entry)
}

function remove(list: Entry[], entry: Entry): void {
  if (list[0] === entry) list.shift()
  else list.splice(list.indexOf(entry), 1)
}
