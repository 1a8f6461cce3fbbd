import { formatTime, isNotFound, isStatusError } from '@coxswain/apimachinery'
import type { Client } from '@coxswain/client'
import { AsyncQueue, type Env, isAbort } from '@coxswain/kit'
import type { EventRecorder, EventSource, EventSubject } from '../event-recorder.ts'
import { type Correlated, EventCorrelator } from './event-correlator.ts'
import { type EventInput, eventKind } from './kinds.ts'

/** So many objects' events are sent beside each other. */
const laneCount = 8
/** How many may wait in a lane. */
const laneLimit = 250
const maxMessage = 1_024
const maxTries = 12
const retryDelay = 10_000

type ToSend = Exclude<Correlated, { readonly action: 'drop' }>

/**
 * Sends events in the background, those of one object one after another, as core/v1 Events with the counts and times that `kubectl get
 * events` and `kubectl describe` of every version show.
 */
export class EventBroadcaster {
  readonly #client: Client
  readonly #env: Env
  readonly #lanes = Array.from({ length: laneCount }, () => new AsyncQueue<EventInput>(laneLimit))
  readonly #correlator: EventCorrelator
  /** How many found no room since a lane was last empty. */
  #dropped = 0
  /** Of the last event, in nanoseconds. */
  #lastInstant = 0n

  constructor(client: Client, env: Env) {
    this.#client = client
    this.#env = env
    this.#correlator = new EventCorrelator(env.clock)
  }

  recorderFor(source: EventSource): EventRecorder {
    const record = (type: EventInput['type']) => (subject: EventSubject, reason: string, message: string) => {
      const event = this.#createEvent(source, subject, { type, reason, message })
      if (this.#laneOf(event).push(event)) return
      if (this.#dropped++ === 0) this.#env.log.warn('events are dropped: too many wait', { reason, message })
    }
    return {
      normal: record('Normal'),
      warning: record('Warning'),
      from: other => this.recorderFor(other),
    }
  }

  /** Sends until `end` is called and the queue is empty, or `signal` aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const onAbort = (): void => this.end()
    signal.addEventListener('abort', onAbort, { once: true })
    await Promise.all(this.#lanes.map(lane => this.#sendAll(lane, signal)))
    signal.removeEventListener('abort', onAbort)
  }

  async #sendAll(lane: AsyncQueue<EventInput>, signal: AbortSignal): Promise<void> {
    for await (const event of lane) {
      if (signal.aborted) return
      await this.#deliver(event, signal)
      if (this.#dropped === 0 || lane.size > 0) continue
      this.#env.log.warn('events were dropped: too many waited', { count: this.#dropped })
      this.#dropped = 0
    }
  }

  /** Always the same for the same object: what is told of it keeps its order and is counted up. */
  #laneOf({ involvedObject: { uid, name = '' } }: EventInput): AsyncQueue<EventInput> {
    const text = uid ?? name
    let hash = 0
    for (let index = 0; index < text.length; index++) hash = (hash * 31 + text.charCodeAt(index)) >>> 0
    return this.#lanes[hash % laneCount]!
  }

  /** No more events: `run` ends when it has sent those that wait. */
  end(): void {
    for (const lane of this.#lanes) lane.end()
  }

  #createEvent(
    { component, host = '' }: EventSource,
    { apiVersion, kind, metadata }: EventSubject,
    { type, reason, message }: Pick<EventInput, 'type' | 'reason' | 'message'>,
  ): EventInput {
    const { namespace, name, uid, resourceVersion } = metadata
    const now = formatTime(this.#env.clock.now())
    const suffix = this.#nextInstant().toString(16)
    return {
      metadata: { namespace: namespace ?? 'default', name: `${name}.${suffix}` },
      involvedObject: { apiVersion, kind, name, uid, resourceVersion, ...(namespace && { namespace }) },
      type,
      reason,
      message: message.length > maxMessage ? `${message.slice(0, maxMessage - 3)}...` : message,
      source: { component, ...(host && { host }) },
      firstTimestamp: now,
      lastTimestamp: now,
      count: 1,
      reportingComponent: component,
      reportingInstance: host,
    }
  }

  /** Nanoseconds by chance, and always later: `kubectl describe` lists what happened in one second by name. */
  #nextInstant(): bigint {
    const { clock, random } = this.#env
    const instant = BigInt(Math.floor(clock.now())) * 1_000_000n + BigInt(random.below(1_000_000))
    if (instant > this.#lastInstant) this.#lastInstant = instant
    else this.#lastInstant += 1n
    return this.#lastInstant
  }

  async #deliver(event: EventInput, signal: AbortSignal): Promise<void> {
    const { clock, random, log } = this.#env
    const correlated = this.#correlator.correlate(event)
    if (correlated.action === 'drop') return
    for (let tries = 1; ; tries++) {
      try {
        await this.#send(event, correlated, signal)
        return
      } catch (error) {
        if (signal.aborted || isAbort(error, signal)) return
        if (isRefusal(error) || tries === maxTries) {
          log.warn('an event could not be recorded', { reason: event.reason, error })
          return
        }
        const delay = tries === 1 ? retryDelay * random.next() : retryDelay
        await clock.sleep(delay, { signal }).catch(() => {})
        if (signal.aborted) return
      }
    }
  }

  async #send(event: EventInput, correlated: ToSend, signal: AbortSignal): Promise<void> {
    const { key } = correlated
    if (correlated.action === 'count') {
      const { name } = correlated
      const { namespace } = event.metadata
      const { count, lastTimestamp, message } = correlated.event
      try {
        await this.#client.patch(
          eventKind,
          { namespace: namespace!, name },
          { count, lastTimestamp, message },
          { signal },
        )
        this.#correlator.stored(key, { ...correlated.event, metadata: { ...event.metadata, name } })
        return
      } catch (error) {
        if (!isNotFound(error)) throw error
        this.#correlator.lost(key)
      }
    }
    const created = { ...correlated.event, metadata: event.metadata }
    await this.#client.create(eventKind, created, { signal })
    this.#correlator.stored(key, created)
  }
}

/** Whether the server has said no, which asking again does not change. */
function isRefusal(error: unknown): boolean {
  return isStatusError(error) && error.code >= 400 && error.code < 500 && error.code !== 429
}
