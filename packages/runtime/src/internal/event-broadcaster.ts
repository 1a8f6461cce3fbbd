import { isNotFound, isStatusError } from '@coxswain/apimachinery/status'
import { formatMicroTime, formatTime } from '@coxswain/apimachinery/time'
import type { Client } from '@coxswain/client'
import { AsyncQueue, type Env, isAbort } from '@coxswain/kit'
import type { EventRecorder, EventSource, EventSubject } from '../event-recorder.ts'
import { type Correlated, EventCorrelator } from './event-correlator.ts'
import { EventPace } from './event-pace.ts'
import { EventSeries } from './event-series.ts'
import {
  type EventInput,
  eventKind,
  type ObjectReference,
  type SeriesEventInput,
  seriesEventKind,
} from './kinds.ts'

/** The number of events that are sent concurrently. */
const laneCount = 8
/** The most queued events of a lane. */
const laneLimit = 2_500
/** The longest note of an events.k8s.io event; core/v1 messages are not limited. */
const maxNote = 1_024
const maxTries = 12
const retryDelay = 10_000

type ToSend = Exclude<Correlated, { readonly action: 'drop' }>

/** The action of an events.k8s.io event, and its related object. */
interface EventAction {
  readonly action: string
  readonly related?: EventSubject
}

type EventText = Pick<EventInput, 'type' | 'reason' | 'message'>

/** A queued event. */
interface Waiting {
  readonly reason: string
  /** Called once, when it is taken from the queue. Returns the function that sends the event, which is retried; undefined when there is nothing to send. */
  readonly prepare: () => ((signal: AbortSignal) => Promise<void>) | undefined
}

/**
 * Sends events in the background, those of one object in order: as core/v1 Events with the counts and times that
 * `kubectl get events` and `kubectl describe` of every version show, or, for recorders with an action, as those of
 * events.k8s.io.
 */
export class EventBroadcaster {
  readonly #client: Client
  readonly #env: Env
  readonly #hostname: string | undefined
  readonly #lanes = Array.from({ length: laneCount }, () => new AsyncQueue<Waiting>(laneLimit))
  readonly #correlator: EventCorrelator
  readonly #series: EventSeries
  readonly #pace: EventPace
  /** The number of events dropped since a lane was last empty. */
  #dropped = 0
  /** The time of the last event, in nanoseconds. */
  #lastInstant = 0n

  /** `hostname`: the default host of events with an action. */
  constructor(client: Client, env: Env, hostname?: string) {
    this.#client = client
    this.#env = env
    this.#hostname = hostname
    this.#correlator = new EventCorrelator(env.clock)
    this.#pace = new EventPace(env.clock)
    this.#series = new EventSeries(env.clock, event =>
      this.#push(event.regarding, {
        reason: event.reason,
        prepare: () => signal => this.#sendSeries(event, signal),
      }),
    )
  }

  recorderFor(source: EventSource, eventAction?: EventAction): EventRecorder {
    const record = (type: EventInput['type']) => (subject: EventSubject, reason: string, message: string) => {
      const text: EventText = { type, reason, message }
      if (eventAction) this.#recordWithAction(source, eventAction, subject, text)
      else this.#record(source, subject, text)
    }
    return {
      normal: record('Normal'),
      warning: record('Warning'),
      from: other => this.recorderFor(other, eventAction),
      withAction: (action, related) => this.recorderFor(source, { action, ...(related && { related }) }),
    }
  }

  /** Sends until `end` is called and the queue is empty, or `signal` aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const onAbort = (): void => this.end()
    signal.addEventListener('abort', onAbort, { once: true })
    await Promise.all(this.#lanes.map(lane => this.#sendAll(lane, signal)))
    signal.removeEventListener('abort', onAbort)
  }

  async #sendAll(lane: AsyncQueue<Waiting>, signal: AbortSignal): Promise<void> {
    for await (const event of lane) {
      if (signal.aborted) return
      await this.#deliver(event, signal)
      if (this.#dropped === 0 || lane.size > 0) continue
      this.#env.log.warn('events were dropped: the queue was full', { count: this.#dropped })
      this.#dropped = 0
    }
  }

  /** An object always has the same lane: its events keep their order and are counted. */
  #push({ uid, name = '' }: ObjectReference, waiting: Waiting): void {
    this.#pace.arrive()
    const text = uid ?? name
    let hash = 0
    for (let index = 0; index < text.length; index++) hash = (hash * 31 + text.charCodeAt(index)) >>> 0
    if (this.#lanes[hash % laneCount]!.push(waiting)) return
    const { reason } = waiting
    if (this.#dropped++ === 0) this.#env.log.warn('dropping events: the queue is full', { reason })
  }

  /** No more events: `run` ends when it has sent the queued ones. */
  end(): void {
    this.#series.end()
    this.#pace.end()
    for (const lane of this.#lanes) lane.end()
  }

  #record({ component, host = '' }: EventSource, subject: EventSubject, text: EventText): void {
    const now = formatTime(this.#env.clock.now())
    const event: EventInput = {
      metadata: this.#createMetadata(subject),
      involvedObject: referTo(subject),
      ...text,
      source: { component, ...(host && { host }) },
      firstTimestamp: now,
      lastTimestamp: now,
      count: 1,
      reportingComponent: component,
      reportingInstance: host,
    }
    const prepare = () => {
      const correlated = this.#correlator.correlate(event)
      if (correlated.action === 'drop') return undefined
      return (signal: AbortSignal) => this.#send(event, correlated, signal)
    }
    this.#push(event.involvedObject, { reason: text.reason, prepare })
  }

  #recordWithAction(
    { component, host = this.#hostname }: EventSource,
    { action, related }: EventAction,
    subject: EventSubject,
    { type, reason, message }: EventText,
  ): void {
    const event: SeriesEventInput = {
      metadata: this.#createMetadata(subject),
      eventTime: formatMicroTime(this.#env.clock.now()),
      reportingController: component,
      reportingInstance: host === undefined ? component : `${component}-${host}`,
      action,
      reason,
      regarding: referTo(subject),
      ...(related && { related: referTo(related) }),
      note: message.length > maxNote ? `${message.slice(0, maxNote - 3)}...` : message,
      type,
    }
    const prepare = () => {
      const next = this.#series.add(event)
      return next && ((signal: AbortSignal) => this.#sendSeries(next, signal))
    }
    this.#push(event.regarding, { reason, prepare })
  }

  #createMetadata({ metadata: { namespace = 'default', name } }: EventSubject) {
    return { namespace, name: `${name}.${this.#nextInstant().toString(16)}` }
  }

  /** Random nanoseconds, strictly increasing: `kubectl describe` sorts the events of one second by name. */
  #nextInstant(): bigint {
    const { clock, random } = this.#env
    const instant = BigInt(Math.floor(clock.now())) * 1_000_000n + BigInt(random.below(1_000_000))
    if (instant > this.#lastInstant) this.#lastInstant = instant
    else this.#lastInstant += 1n
    return this.#lastInstant
  }

  async #deliver({ reason, prepare }: Waiting, signal: AbortSignal): Promise<void> {
    const { clock, random, log } = this.#env
    const send = prepare()
    if (!send) return
    await this.#pace.turn()
    if (signal.aborted) return
    for (let tries = 1; ; tries++) {
      try {
        await send(signal)
        return
      } catch (error) {
        if (signal.aborted || isAbort(error, signal)) return
        if (isRefusal(error) || tries === maxTries) {
          log.warn('an event could not be recorded', { reason, error })
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

  async #sendSeries(event: SeriesEventInput, signal: AbortSignal): Promise<void> {
    const { metadata, series } = event
    if (series)
      try {
        const key = { namespace: metadata.namespace!, name: metadata.name! }
        await this.#client.patch(seriesEventKind, key, { series }, { signal })
        return
      } catch (error) {
        if (!isNotFound(error)) throw error
      }
    await this.#client.create(seriesEventKind, event, { signal })
  }
}

function referTo({ apiVersion, kind, metadata, fieldPath }: EventSubject): ObjectReference {
  const { namespace, name, uid, resourceVersion } = metadata
  const part = fieldPath !== undefined && { fieldPath }
  return { apiVersion, kind, name, uid, resourceVersion, ...(namespace && { namespace }), ...part }
}

/** Whether the server has rejected it, which a retry does not change. */
function isRefusal(error: unknown): boolean {
  return isStatusError(error) && error.code >= 400 && error.code < 500 && error.code !== 429
}
