import { decodeBuiltin } from '@coxswain/api'
import type { Event } from '@coxswain/api/core/v1'
import { deepClone, type JsonObject } from '@coxswain/apimachinery/json'
import type { Decoded } from '../decoded.ts'

/** What the newer group calls what the core group has; everything else has the same name in both. */
const names = [
  ['involvedObject', 'regarding'],
  ['message', 'note'],
  ['source', 'deprecatedSource'],
  ['firstTimestamp', 'deprecatedFirstTimestamp'],
  ['lastTimestamp', 'deprecatedLastTimestamp'],
  ['count', 'deprecatedCount'],
  ['reportingComponent', 'reportingController'],
] as const

export const isCoreEvent = ({ apiVersion }: { apiVersion?: unknown }): boolean => apiVersion === 'v1'

export function convertEvent(object: JsonObject, apiVersion: string): JsonObject {
  if (object.apiVersion === apiVersion) return object
  const toCore = apiVersion === 'v1'
  const renamed: JsonObject = { ...object, apiVersion }
  for (const [core, newer] of names) {
    const [from, to] = toCore ? [newer, core] : [core, newer]
    if (renamed[from] !== undefined) renamed[to] = renamed[from]
    delete renamed[from]
  }
  const [group, version] = toCore ? ['', 'v1'] : ['events.k8s.io', 'v1']
  return decodeBuiltin({ group, version, kind: 'Event' }, deepClone(renamed)).object
}

/** An event of either group under the names of the core group. */
export function toCoreEvent(object: JsonObject): Decoded<Event> {
  return convertEvent(object, 'v1') as Decoded<Event>
}
