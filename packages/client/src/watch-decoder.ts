import type { Schema } from '@coxswain/apimachinery/schema'
import { isStatus, StatusError } from '@coxswain/apimachinery/wire-format'
import { joinChunks, TransportError } from '@coxswain/wire'
import { dropNulls } from './drop-nulls.ts'
import { ClientError } from './errors.ts'
import { decodeJson } from './json.ts'
import { findManagedFields } from './omit-managed-fields.ts'
import type { Bookmark, WatchEvent } from './options.ts'

const newline = 0x0a

/**
 * Cuts a stream into lines. A line that lies in one chunk is a view of it; one that spans several is joined once, when
 * its end has come, so that a long line costs no more than its length. Empty lines are left out.
 */
export class LineSplitter {
  readonly #maxLineBytes: number
  #held: Uint8Array[] = []
  #heldBytes = 0

  constructor(maxLineBytes: number) {
    this.#maxLineBytes = maxLineBytes
  }

  /** The lines that end in this chunk. Throws when one is too long. */
  push(chunk: Uint8Array): Uint8Array[] {
    const lines: Uint8Array[] = []
    let start = 0
    for (let end = chunk.indexOf(newline); end >= 0; end = chunk.indexOf(newline, start)) {
      this.#checkLength(this.#heldBytes + end - start)
      const rest = chunk.subarray(start, end)
      start = end + 1
      if (this.#held.length > 0) {
        this.#held.push(rest)
        lines.push(joinChunks(this.#held))
        this.#held = []
        this.#heldBytes = 0
      } else if (rest.length > 0) {
        lines.push(rest)
      }
    }
    if (start < chunk.length) {
      this.#held.push(start === 0 ? chunk : chunk.subarray(start))
      this.#heldBytes += chunk.length - start
      this.#checkLength(this.#heldBytes)
    }
    return lines
  }

  /** Throws when the stream ended in the middle of a line. */
  end(): void {
    if (this.#heldBytes === 0) return
    throw new TransportError('ConnectionLost', 'the watch ended in the middle of an event')
  }

  #checkLength(bytes: number): void {
    if (bytes <= this.#maxLineBytes) return
    throw new ClientError('BadAnswer', `an event of the watch is longer than ${this.#maxLineBytes} bytes`)
  }
}

/** Reads one line of a watch. An ERROR event is thrown as the StatusError it carries. */
export function decodeWatchEvent<T>(
  line: Uint8Array,
  schema: () => Schema,
  omitManagedFields = false,
): WatchEvent<T> {
  const event = decodeJson(line, {
    omit: omitManagedFields ? findManagedFields(line) : undefined,
    onNulls: value => dropNulls((value as { object?: unknown } | null)?.object, schema()),
  })
  if (typeof event !== 'object' || event === null || !('type' in event) || !('object' in event)) {
    throw new ClientError('BadAnswer', 'a line of the watch is no watch event')
  }
  switch (event.type) {
    case 'ADDED':
    case 'MODIFIED':
    case 'DELETED':
      return { type: event.type, object: event.object as T }
    case 'BOOKMARK':
      return { type: 'BOOKMARK', object: event.object as Bookmark }
    case 'ERROR':
      throw isStatus(event.object)
        ? new StatusError(event.object)
        : new ClientError('BadAnswer', 'the watch failed with something that is no Status')
  }
  throw new ClientError('BadAnswer', `the watch sent an event of unknown type ${JSON.stringify(event.type)}`)
}
