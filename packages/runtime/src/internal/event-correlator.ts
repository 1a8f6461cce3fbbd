import { BoundedMap, type Clock } from '@coxswain/kit'
import type { EventInput } from './kinds.ts'

const cacheSize = 4096
/** More different messages than this for one reason within the window are combined. */
const maxSimilar = 10
const similarWindow = 600_000
/** Events about one object: this many at once, then one every five minutes. */
const burst = 25
const refillPerSecond = 1 / 300

/** How to send an event. */
export type Correlated =
  | { readonly action: 'drop' }
  | { readonly action: 'create'; readonly key: string; readonly event: EventInput }
  /** The same event was sent before: `name` is the Event whose count increases. */
  | { readonly action: 'count'; readonly key: string; readonly name: string; readonly event: EventInput }

interface Seen {
  readonly name: string
  readonly firstTimestamp: string
  count: number
}

/** Deduplicates and limits events, by the rules and numbers of client-go's `tools/record`. */
export class EventCorrelator {
  readonly #clock: Clock
  readonly #seen = new BoundedMap<string, Seen>(cacheSize)
  readonly #similar = new BoundedMap<string, { messages: Set<string>; last: number }>(cacheSize)
  readonly #budgets = new BoundedMap<string, { tokens: number; last: number }>(cacheSize)

  constructor(clock: Clock) {
    this.#clock = clock
  }

  correlate(event: EventInput): Correlated {
    const { involvedObject, source, type, reason } = event
    const { kind, namespace, name, uid, apiVersion } = involvedObject
    const subject = JSON.stringify([source.component, source.host, apiVersion, kind, namespace, name, uid])
    const group = `${subject}${type}${reason}`
    const combined = this.#isOneOfMany(group, event.message)
    const sent = combined ? { ...event, message: `(combined from similar events): ${event.message}` } : event
    const key = combined ? group : `${group}${event.message}`
    if (!this.#admit(subject)) return { action: 'drop' }
    const seen = this.#seen.get(key)
    if (!seen) return { action: 'create', key, event: sent }
    const { firstTimestamp, count } = seen
    return { action: 'count', key, name: seen.name, event: { ...sent, firstTimestamp, count: count + 1 } }
  }

  /** The server has stored the event. */
  stored(key: string, event: EventInput): void {
    const { firstTimestamp, count, metadata } = event
    this.#seen.set(key, { name: metadata.name!, firstTimestamp, count })
  }

  /** The server no longer has the event. */
  lost(key: string): void {
    this.#seen.delete(key)
  }

  #isOneOfMany(group: string, message: string): boolean {
    const now = this.#clock.monotonic()
    let similar = this.#similar.get(group)
    if (!similar || now - similar.last > similarWindow) {
      similar = { messages: new Set(), last: now }
      this.#similar.set(group, similar)
    }
    similar.last = now
    similar.messages.add(message)
    if (similar.messages.size < maxSimilar) return false
    // Messages that differ every time, for example with a timestamp, must not accumulate.
    const [oldest] = similar.messages
    similar.messages.delete(oldest!)
    return true
  }

  /** Takes a token if available; dropped events take none. */
  #admit(subject: string): boolean {
    const now = this.#clock.monotonic()
    const budget = this.#budgets.get(subject) ?? { tokens: burst, last: now }
    budget.tokens = Math.min(burst, budget.tokens + ((now - budget.last) / 1000) * refillPerSecond)
    budget.last = now
    this.#budgets.set(subject, budget)
    if (budget.tokens < 1) return false
    budget.tokens--
    return true
  }
}
