import type { PodView } from '@coxswain/kinds'
import type { Clock, Timer } from '@coxswain/kit'
import type { ClusterEvent, QueuedPod, SchedulerHandle, SchedulerPlugin, Verdict } from './plugin.ts'
import { createPodInfo, type PodInfo } from './pod-info.ts'

export interface QueueOptions {
  readonly clock: Clock
  readonly handle: SchedulerHandle
  readonly before: (a: QueuedPod, b: QueuedPod) => boolean
  /** A verdict keeps a pod out. */
  readonly admit: (pod: PodView) => Verdict | undefined
  /** The plug-in of that name in the pod's profile. */
  readonly pluginOf: (pod: PodView, name: string) => SchedulerPlugin | undefined
  /** The first wait after a failure, in milliseconds; it doubles. @default 1000 */
  readonly initialBackoff?: number
  /** @default 10000 */
  readonly maxBackoff?: number
}

/** How long a pod that nothing woke is left alone, in milliseconds. */
const longestSleep = 5 * 60_000

/** A pod that has missed more events than this while in flight is simply tried again. */
const mostMissed = 100

/** How often sleepers are looked for. */
const flushPeriod = 30_000

/** Pods whose back-off ends within the same so many milliseconds are ordered like ready ones. */
const orderingWindow = 1_000

interface Entry {
  pod: PodInfo
  since: number
  attempts: number
  /**
   * Where it is. `gated` and `asleep` pods wait for events, `resting` ones for time or for nobody else to be ready,
   * `failing` ones for time only. Events are kept for those `in flight`, not for those `binding`.
   */
  place: 'ready' | 'resting' | 'failing' | 'asleep' | 'gated' | 'in flight' | 'binding'
  /** Names of the plug-ins that refused it last. */
  refusedBy: readonly string[]
  /** Those of them that wait for something outside: what wakes the pod for them ends its back-off too. */
  pending: readonly string[]
  refusals: number
  /** In a row. */
  errors: number
  /** When it failed last. */
  failedAt: number
  /** When its back-off is over; while `resting` or `failing`. */
  restsUntil: number
  timer: Timer | undefined
  /** What happened while it was being scheduled. */
  missed: ClusterEvent[]
}

/**
 * Pods that wait for a node: ready ones in order, those that failed a moment ago, and those that nothing but a change in
 * the cluster can help.
 */
export class SchedulingQueue {
  readonly #options: Required<QueueOptions>
  readonly #entries = new Map<string, Entry>()
  /** Both in the order in which they are taken. */
  readonly #ready: Entry[] = []
  readonly #resting: Entry[] = []
  /** `asleep`, `gated` and `in flight`: those that are told of events. */
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
      place: 'asleep',
      refusedBy: [],
      pending: [],
      refusals: 0,
      errors: 0,
      failedAt: 0,
      restsUntil: 0,
      timer: undefined,
      missed: [],
    }
    this.#entries.set(entry.pod.uid, entry)
    this.#makeReady(entry)
  }

  /** The pod has changed in a way that plug-ins may care for; `changes` says how. */
  update(old: PodView, pod: PodView, changes: ClusterEvent['changes'] = new Set()): void {
    const entry = this.#entries.get(pod.metadata.uid)
    if (!entry) {
      this.add(pod)
      return
    }
    entry.pod = createPodInfo(pod)
    if (entry.place === 'ready') this.#makeReady(entry)
    else this.#tell(entry, { resource: 'UnscheduledPod', action: 'update', old, object: pod, changes })
  }

  /** A newer version of the pod in which nothing has changed that plug-ins look at. */
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
   * The next pod; undefined when the queue was closed. Where none is ready, those that rest have rested long enough.
   * It is in flight until `done`, `binding` or `failed`.
   */
  async pop(): Promise<QueuedPod | undefined> {
    while (!this.#closed) {
      const entry = this.#ready[0] ?? this.#resting[0]
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

  /** The pod has a node. */
  done(uid: string): void {
    this.delete(uid)
  }

  /** The pod is on its way to a node: no event helps it any more. */
  binding(uid: string): void {
    const entry = this.#entries.get(uid)
    if (entry?.place !== 'in flight') return
    this.#move(entry, 'binding')
    entry.missed = []
  }

  /**
   * The pod has no node. With plug-ins that refused it, it sleeps until something wakes it; without, it comes back when
   * its back-off is over. `pending`: those of the plug-ins that wait for something outside.
   */
  failed(uid: string, refusedBy: readonly string[], pending: readonly string[] = []): void {
    const entry = this.#entries.get(uid)
    if (entry?.place !== 'in flight' && entry?.place !== 'binding') return
    const { missed } = entry
    entry.missed = []
    entry.refusedBy = refusedBy
    entry.pending = pending
    entry.failedAt = this.#options.clock.now()
    entry.since = entry.failedAt
    if (refusedBy.length > 0) {
      entry.refusals++
      entry.errors = 0
    } else entry.errors++
    this.#move(entry, 'asleep')
    if (refusedBy.length === 0 || missed.length > mostMissed) this.#rest(entry)
    else for (const event of missed) this.#tell(entry, event)
    this.#flushLater()
  }

  /** Something happened: pods that it may help get another try. `isMeant` leaves some of them out. */
  move(event: ClusterEvent, isMeant?: (pod: PodInfo) => boolean): void {
    if (this.#listening.size === 0) return
    for (const entry of [...this.#listening]) if (!isMeant || isMeant(entry.pod)) this.#tell(entry, event)
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

  #tell(entry: Entry, event: ClusterEvent): void {
    if (entry.place === 'in flight') {
      if (entry.missed.length <= mostMissed) entry.missed.push(event)
      return
    }
    if (entry.place !== 'asleep' && entry.place !== 'gated') return
    const helped = entry.refusedBy.filter(name => this.#mayHelp(entry, name, event))
    if (helped.length === 0) return
    if (helped.some(name => entry.pending.includes(name))) this.#makeReady(entry)
    else this.#rest(entry)
  }

  #mayHelp({ pod }: Entry, name: string, event: ClusterEvent): boolean {
    const wakesOn = this.#options.pluginOf(pod.pod, name)?.wakesOn
    return !wakesOn || wakesOn(event, pod.pod, this.#options.handle)
  }

  /** Ready when its back-off is over, or before when nobody else is. */
  #rest(entry: Entry): void {
    const { clock, initialBackoff, maxBackoff } = this.#options
    const failures = entry.errors > 0 ? entry.errors : entry.refusals
    const backoff = failures === 0 ? 0 : Math.min(initialBackoff * 2 ** (failures - 1), maxBackoff)
    entry.restsUntil = entry.failedAt + backoff
    const left = entry.restsUntil - clock.now()
    if (left <= 0) {
      this.#makeReady(entry)
      return
    }
    if (!this.#admit(entry)) return
    this.#move(entry, entry.errors > 0 ? 'failing' : 'resting')
    entry.timer = clock.after(left, () => this.#makeReady(entry))
    if (entry.place === 'resting') this.#wake()
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
    entry.refusedBy = verdict.plugin === undefined ? [] : [verdict.plugin]
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
    else if (place === 'resting') insert(this.#resting, entry, this.#isRestedBefore)
    else if (place === 'asleep' || place === 'gated' || place === 'in flight') this.#listening.add(entry)
  }

  #leave(entry: Entry): void {
    entry.timer?.cancel()
    entry.timer = undefined
    if (entry.place === 'ready') remove(this.#ready, entry)
    else if (entry.place === 'resting') remove(this.#resting, entry)
    else this.#listening.delete(entry)
  }

  readonly #isRestedBefore = (a: Entry, b: Entry): boolean => {
    const difference = Math.floor(a.restsUntil / orderingWindow) - Math.floor(b.restsUntil / orderingWindow)
    return difference === 0 ? this.#options.before(a, b) : difference < 0
  }

  /** While anybody sleeps. */
  #flushLater(): void {
    if (this.#closed || this.#timer) return
    this.#timer = this.#options.clock.after(flushPeriod, () => {
      this.#timer = undefined
      const now = this.#options.clock.now()
      for (const entry of [...this.#listening])
        if (isAsleep(entry) && now - entry.failedAt > longestSleep) this.#rest(entry)
      if (this.#listening.size > 0) this.#flushLater()
    })
  }
}

/** Waits for an event since it failed. */
function isAsleep({ place, attempts }: Entry): boolean {
  return place === 'asleep' || (place === 'gated' && attempts > 0)
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
