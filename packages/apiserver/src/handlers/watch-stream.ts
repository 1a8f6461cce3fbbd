import { AsyncQueue, type Env } from '@coxswain/kit'
import type { CacheEvent, CacheWatcher, ResourceCache } from '../cache/resource-cache.ts'
import type { StoredObject } from '../cache/stored-object.ts'

export type WatchEventType = 'ADDED' | 'MODIFIED' | 'DELETED'

/** How events are turned into bytes for one watcher. */
export interface EventEncoder {
  event(type: WatchEventType, object: StoredObject): Uint8Array
  /** `initialEnd` marks the bookmark that ends the initial events. */
  bookmark(revision: number, initialEnd: boolean): Uint8Array
}

export interface WatchStreamOptions {
  readonly env: Env
  readonly cache: ResourceCache
  readonly encoder: EventEncoder
  readonly namespace: string
  readonly matches: (object: StoredObject) => boolean
  /** What the stream begins with: the present state, or the changes after a revision. */
  readonly begin:
    | { readonly from: 'state'; readonly endBookmark: boolean }
    | { readonly from: 'revision'; readonly revision: number }
  readonly bookmarks: boolean
  readonly currentRevision: () => number
  readonly timeoutMs: number
  readonly signal: AbortSignal
}

const bookmarkInterval = 60_000
/** A last bookmark is sent so long before the deadline. */
const bookmarkLead = 2_000
/** Bytes that may wait for a watcher that does not read before its stream is ended. */
const pendingLimit = 16 * 1024 * 1024

/**
 * The bytes of one watch. It is registered with the cache before this function returns, so no change is missed or told
 * twice; it ends at its deadline, with the client, with the resource, or when the client reads too slowly.
 */
export function openWatchStream(options: WatchStreamOptions): AsyncIterable<Uint8Array> {
  const { cache, encoder, matches, signal } = options
  const queue = new AsyncQueue<Uint8Array>()
  let pending = 0
  const after = options.begin.from === 'revision' ? options.begin.revision : 0
  const send = (bytes: Uint8Array) => {
    pending += bytes.length
    if (pending > pendingLimit || !queue.push(bytes)) stop()
  }
  const watcher: CacheWatcher = {
    namespace: options.namespace,
    onEvent: event => {
      // A watch may ask for a revision that is still to come: what happens before it is not its business.
      if (event.revision <= after) return
      sendMatching(event, matches, (type, object) => send(encoder.event(type, object)))
    },
    onEnd: () => stop(),
  }
  const timers = startTimers(
    options,
    () => send(encoder.bookmark(options.currentRevision(), false)),
    () => stop(),
  )
  const stop = () => {
    cache.removeWatcher(watcher)
    timers.cancel()
    signal.removeEventListener('abort', stop)
    queue.end()
  }

  if (options.begin.from === 'state') {
    const keyPrefix = options.namespace === '' ? cache.prefix : `${cache.prefix}${options.namespace}/`
    for (const object of cache.list(keyPrefix)) if (matches(object)) send(encoder.event('ADDED', object))
    if (options.begin.endBookmark) send(encoder.bookmark(options.currentRevision(), true))
  } else {
    for (const event of cache.since(options.begin.revision + 1)) {
      if (options.namespace === '' || event.object.namespace === options.namespace) watcher.onEvent(event)
    }
  }
  cache.addWatcher(watcher)
  signal.addEventListener('abort', stop, { once: true })
  if (signal.aborted) stop()
  const onTaken = (bytes: number) => {
    pending -= bytes
  }
  return drain(queue, onTaken, stop)
}

async function* drain(
  queue: AsyncQueue<Uint8Array>,
  onTaken: (bytes: number) => void,
  stop: () => void,
): AsyncGenerator<Uint8Array, void, undefined> {
  try {
    for await (const bytes of queue) {
      onTaken(bytes.length)
      yield bytes
    }
  } finally {
    stop()
  }
}

/**
 * What a change means to a watcher with selectors: an object that begins to match is added, one that no longer does is
 * deleted, as it was before, with the revision of the change.
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
