import type { Clock, Timer } from '@coxswain/kit'
import type { ClusterEvent, QueuedPod, SchedulerPlugin, Verdict } from './plugin.ts'
import { createPodInfo, type PodInfo, type PodView } from './pod-info.ts'

export interface QueueOptions {
  readonly clock: Clock
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

interface Entry {
  pod: PodInfo
  since: number
  attempts: number
  /** Where it is. `gated` and `asleep` pods wait for events, `resting` ones for time. */
  place: 'ready' | 'resting' | 'asleep' | 'gated' | 'in flight'
  /** Names of the plug-ins that refused it last. */
  refusedBy: readonly string[]
  /** When it failed last. */
  failedAt: number
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
  #ready: Entry[] = []
  #waiter: (() => void) | undefined
  #timer: Timer | undefined
  #closed = false

  constructor(options: QueueOptions) {
    this.#options = { initialBackoff: 1_000, maxBackoff: 10_000, ...options }
    this.#flushLater()
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
      failedAt: 0,
      missed: [],
    }
    this.#entries.set(entry.pod.uid, entry)
    this.#makeReady(entry)
  }

  update(old: PodView, pod: PodView): void {
    const entry = this.#entries.get(pod.metadata.uid)
    if (!entry) {
      this.add(pod)
      return
    }
    entry.pod = createPodInfo(pod)
    if (entry.place === 'ready') {
      this.#take(entry)
      this.#makeReady(entry)
      return
    }
    this.#tell(entry, { resource: 'UnscheduledPod', action: 'update', old, object: pod })
  }

  delete(uid: string): void {
    const entry = this.#entries.get(uid)
    if (!entry) return
    this.#take(entry)
    this.#entries.delete(uid)
  }

  /** The next pod; undefined when the queue was closed. It is in flight until `done` or `failed`. */
  async pop(): Promise<QueuedPod | undefined> {
    while (!this.#closed) {
      const entry = this.#ready.shift()
      if (entry) {
        entry.place = 'in flight'
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

  /** The pod has none. With plug-ins that refused it, it sleeps until something wakes it; without, it comes back soon. */
  failed(uid: string, refusedBy: readonly string[]): void {
    const entry = this.#entries.get(uid)
    if (entry?.place !== 'in flight') return
    entry.refusedBy = refusedBy
    entry.failedAt = this.#options.clock.now()
    entry.since = entry.failedAt
    const { missed } = entry
    entry.missed = []
    entry.place = 'asleep'
    const mayPass =
      refusedBy.length === 0 ||
      missed.length > mostMissed ||
      missed.some(event => this.#mayHelp(entry, event))
    if (mayPass) this.#rest(entry)
  }

  /** Something happened: pods that it may help get another try. */
  move(event: ClusterEvent): void {
    for (const entry of this.#entries.values()) this.#tell(entry, event)
  }

  get(uid: string): PodInfo | undefined {
    return this.#entries.get(uid)?.pod
  }

  close(): void {
    this.#closed = true
    this.#timer?.cancel()
    this.#waiter?.()
  }

  #tell(entry: Entry, event: ClusterEvent): void {
    if (entry.place === 'in flight') {
      if (entry.missed.length <= mostMissed) entry.missed.push(event)
    } else if (entry.place === 'gated') this.#makeReady(entry)
    else if (entry.place === 'asleep' && this.#mayHelp(entry, event)) this.#rest(entry)
  }

  #mayHelp({ pod, refusedBy }: Entry, event: ClusterEvent): boolean {
    return refusedBy.some(name => {
      const wakesOn = this.#options.pluginOf(pod.pod, name)?.wakesOn
      return !wakesOn || wakesOn(event, pod.pod)
    })
  }

  /** Ready when its back-off is over. */
  #rest(entry: Entry): void {
    const { clock, initialBackoff, maxBackoff } = this.#options
    const backoff = Math.min(initialBackoff * 2 ** Math.max(0, entry.attempts - 1), maxBackoff)
    const left = entry.failedAt + backoff - clock.now()
    if (left <= 0) {
      this.#makeReady(entry)
      return
    }
    entry.place = 'resting'
    clock.after(left, () => {
      if (this.#entries.get(entry.pod.uid) === entry && entry.place === 'resting') this.#makeReady(entry)
    })
  }

  #makeReady(entry: Entry): void {
    const verdict = this.#options.admit(entry.pod.pod)
    if (verdict) {
      entry.place = 'gated'
      entry.refusedBy = verdict.plugin === undefined ? [] : [verdict.plugin]
      return
    }
    entry.place = 'ready'
    this.#insert(entry)
    this.#waiter?.()
    this.#waiter = undefined
  }

  #insert(entry: Entry): void {
    const { before } = this.#options
    let low = 0
    let high = this.#ready.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (before(entry, this.#ready[middle]!)) high = middle
      else low = middle + 1
    }
    this.#ready.splice(low, 0, entry)
  }

  #take(entry: Entry): void {
    if (entry.place === 'ready') this.#ready = this.#ready.filter(other => other !== entry)
    entry.place = 'asleep'
  }

  #flushLater(): void {
    if (this.#closed) return
    this.#timer = this.#options.clock.after(flushPeriod, () => {
      const now = this.#options.clock.now()
      for (const entry of this.#entries.values())
        if (entry.place === 'asleep' && now - entry.failedAt > longestSleep) this.#rest(entry)
      this.#flushLater()
    })
  }
}
