import { isStatusError } from '@coxswain/apimachinery/status'
import type { Env } from '@coxswain/kit'
import { PushStream } from '@coxswain/wire'
import type { CacheEvent, CacheWatcher, ResourceCache } from '../cache/resource-cache.ts'
import type { StoredObject } from '../cache/stored-object.ts'

export type WatchEventType = 'ADDED' | 'MODIFIED' | 'DELETED'

/** Encodes events for one watcher. */
export interface EventEncoder {
  event(type: WatchEventType, object: StoredObject): Uint8Array
  /** `mark` is set for the bookmark that ends the initial events. */
  bookmark(revision: number, mark?: 'initial-events-end'): Uint8Array
  /** A Status that ends the stream. */
  error(status: object): Uint8Array
}

export interface WatchStreamOptions {
  readonly env: Env
  readonly cache: ResourceCache
  readonly encoder: EventEncoder
  readonly namespace: string
  readonly matches: (object: StoredObject) => boolean
  /** Set when a conversion webhook is needed: called before matching and encoding, for several objects at a time. */
  readonly prepare?: (objects: readonly StoredObject[]) => unknown
  /** The initial events: the present state, or the changes after a revision. */
  readonly begin:
    | { readonly from: 'state'; readonly endBookmark: boolean }
    | { readonly from: 'revision'; readonly revision: number }
  readonly bookmarks: boolean
  readonly currentRevision: () => number
  readonly timeoutMs: number
  readonly signal: AbortSignal
}

const bookmarkInterval = 60_000
/** How long before the deadline the last bookmark is sent. */
const bookmarkLead = 2_000
/** How many bytes may be queued for a slow watcher before its stream is ended. */
const pendingLimit = 16 * 1024 * 1024

/**
 * The bytes of one watch. It is registered with the cache before this function returns, so no change is missed or sent
 * twice; it ends at its deadline, with the client, with the resource, or when the client reads too slowly. Initial
 * events are encoded as fast as the client reads.
 */
export function openWatchStream(options: WatchStreamOptions): AsyncIterable<Uint8Array> {
  const { cache, encoder, matches, signal, prepare } = options
  const first = firstEvents(options)
  const end = endBookmark(options)
  const stream = new PushStream({
    limit: pendingLimit,
    onLeave: () => stop(),
    ...(!prepare && { prelude: encodeFirst(options, first, end) }),
  })
  /** Bytes of objects that are waiting for conversion. */
  let converting = 0
  const after = options.begin.from === 'revision' ? options.begin.revision : 0
  const send = (bytes: Uint8Array) => {
    if (!stream.push(bytes)) stop()
  }
  // Events waiting for conversion keep their order; without any, events are sent at once.
  let waiting: Promise<void> | undefined
  const sendPrepared = (objects: readonly StoredObject[], action: () => void) => {
    if (!prepare) {
      action()
      return
    }
    const held = objects.reduce((sum, { size }) => sum + size, 0)
    converting += held
    if (converting + stream.pending > pendingLimit) stop()
    const turn = async (before: Promise<void> | undefined) => {
      await before
      try {
        await prepare(objects)
        converting -= held
        action()
      } catch (error) {
        if (!isStatusError(error)) throw error
        send(encoder.error(error.status))
        stop()
      }
    }
    waiting = turn(waiting)
    waiting.catch(stop)
  }
  const sendEvent = (event: CacheEvent) =>
    sendMatching(event, matches, (type, changed) => send(encoder.event(type, changed)))
  const watcher: CacheWatcher = {
    namespace: options.namespace,
    onEvent: event => {
      // A watch may ask for a future revision: it does not get the changes before that.
      if (event.revision <= after) return
      if (prepare) sendPrepared(objectsOf(event), () => sendEvent(event))
      else sendEvent(event)
    },
    onEnd: () => stop(),
  }
  const timers = startTimers(
    options,
    () => {
      const revision = options.currentRevision()
      sendPrepared([], () => send(encoder.bookmark(revision)))
    },
    () => stop(),
  )
  const stop = () => {
    cache.removeWatcher(watcher)
    timers.cancel()
    signal.removeEventListener('abort', stop)
    stream.end()
  }

  if (prepare) {
    sendPrepared(first.flatMap(objectsOf), () => first.forEach(sendEvent))
    if (end) sendPrepared([], () => send(end()))
  }
  cache.addWatcher(watcher)
  signal.addEventListener('abort', stop, { once: true })
  if (signal.aborted) stop()
  return stream
}

const objectsOf = ({ object, previous }: CacheEvent) => (previous ? [object, previous] : [object])

/** The initial events: the state or the changes as of now. */
function firstEvents({ begin, cache, namespace }: WatchStreamOptions): readonly CacheEvent[] {
  if (begin.from === 'state') {
    const keyPrefix = namespace === '' ? cache.prefix : `${cache.prefix}${namespace}/`
    return cache
      .list(keyPrefix)
      .map(object => ({ type: 'ADDED', object, revision: object.revision, previous: undefined }))
  }
  const events = cache.since(begin.revision + 1)
  return namespace === '' ? events : events.filter(({ object }) => object.namespace === namespace)
}

/** The bookmark after the state, if requested. */
function endBookmark({
  begin,
  encoder,
  currentRevision,
}: WatchStreamOptions): (() => Uint8Array) | undefined {
  if (begin.from !== 'state' || !begin.endBookmark) return undefined
  const revision = currentRevision()
  return () => encoder.bookmark(revision, 'initial-events-end')
}

function* encodeFirst(
  { encoder, matches }: WatchStreamOptions,
  events: readonly CacheEvent[],
  end: (() => Uint8Array) | undefined,
): Generator<Uint8Array, void, undefined> {
  let encoded: Uint8Array | undefined
  for (const event of events) {
    encoded = undefined
    sendMatching(event, matches, (type, object) => {
      encoded = encoder.event(type, object)
    })
    if (encoded) yield encoded
  }
  if (end) yield end()
}

/**
 * What a change means to a watcher with selectors: an object that begins to match is ADDED, one that no longer does is
 * DELETED, in its previous state, with the revision of the change.
 */
function sendMatching(
  event: CacheEvent,
  matches: (object: StoredObject) => boolean,
  send: (type: WatchEventType, object: StoredObject) => void,
): void {
  const { type, object, previous } = event
  if (type !== 'MODIFIED') {
    if (matches(object)) send(type, object)
    return
  }
  const before = previous !== undefined && matches(previous)
  if (matches(object)) send(before ? 'MODIFIED' : 'ADDED', object)
  else if (before) send('DELETED', previous.at(event.revision))
}

function startTimers(
  options: WatchStreamOptions,
  sendBookmark: () => void,
  onDeadline: () => void,
): { cancel(): void } {
  const { clock } = options.env
  const deadline = clock.after(options.timeoutMs, onDeadline)
  const last = options.bookmarks
    ? clock.after(Math.max(0, options.timeoutMs - bookmarkLead), sendBookmark)
    : undefined
  let periodic = options.bookmarks ? clock.after(bookmarkInterval, onPeriod) : undefined
  function onPeriod(): void {
    sendBookmark()
    periodic = clock.after(bookmarkInterval, onPeriod)
  }
  return {
    cancel() {
      deadline.cancel()
      last?.cancel()
      periodic?.cancel()
    },
  }
}
