import { concatBytes, encodeText } from '@coxswain/kit'
import type { StoredObject } from '../cache/stored-object.ts'

const eventEnd = encodeText('}\n')
const eventHeads: Readonly<Record<string, Uint8Array>> = Object.fromEntries(
  ['ADDED', 'MODIFIED', 'DELETED', 'BOOKMARK', 'ERROR'].map(type => [
    type,
    encodeText(`{"type":"${type}","object":`),
  ]),
)

/** One line of a watch stream. */
export function eventBytes(type: string, object: Uint8Array): Uint8Array {
  return concatBytes([eventHeads[type]!, object, eventEnd])
}

function storedEvent(head: Uint8Array, object: StoredObject): Uint8Array {
  const bytes = new Uint8Array(head.length + object.servedRoom + eventEnd.length)
  bytes.set(head)
  const end = object.write(bytes, head.length)
  bytes.set(eventEnd, end)
  return bytes.subarray(0, end + eventEnd.length)
}

let last: { readonly object: StoredObject; readonly type: string; readonly bytes: Uint8Array } | undefined

/** The line of an object as it was stored. All watchers get a change in one turn, so it is encoded once for them. */
export function sharedEvent(type: string, object: StoredObject): Uint8Array {
  if (last?.object === object && last.type === type) return last.bytes
  const bytes = storedEvent(eventHeads[type]!, object)
  last = { object, type, bytes }
  return bytes
}
