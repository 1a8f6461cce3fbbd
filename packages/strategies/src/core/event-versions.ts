import { decodeBuiltin } from '@coxswain/api'
import { deepClone, type JsonObject } from '@coxswain/apimachinery/json'

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

export const isCoreEvent = ({ apiVersion }: JsonObject): boolean => apiVersion === 'v1'

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

export function toCoreEvent(object: JsonObject): JsonObject {
  return convertEvent(object, 'v1')
}
