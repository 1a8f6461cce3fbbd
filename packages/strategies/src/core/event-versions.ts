import { decodeBuiltin } from '@coxswain/api'
import type * as core from '@coxswain/api/core/v1'
import type * as events from '@coxswain/api/events/v1'
import { deepClone } from '@coxswain/apimachinery/json'
import type { Decoded } from '../decoded.ts'

type CoreEvent = Decoded<core.Event>
type NewerEvent = Decoded<events.Event>

/** What events.k8s.io calls the fields of the core group; all others have the same name in both. */
const names: readonly (readonly [keyof CoreEvent, keyof NewerEvent])[] = [
  ['involvedObject', 'regarding'],
  ['message', 'note'],
  ['source', 'deprecatedSource'],
  ['firstTimestamp', 'deprecatedFirstTimestamp'],
  ['lastTimestamp', 'deprecatedLastTimestamp'],
  ['count', 'deprecatedCount'],
  ['reportingComponent', 'reportingController'],
]

export const isCoreEvent = ({ apiVersion }: { apiVersion?: unknown }): boolean => apiVersion === 'v1'

export function convertEvent(object: CoreEvent | NewerEvent, apiVersion: string): CoreEvent | NewerEvent {
  if (object.apiVersion === apiVersion) return object
  const toCore = apiVersion === 'v1'
  const renamed: Record<string, unknown> = { ...object, apiVersion }
  for (const [core, newer] of names) {
    const [from, to] = toCore ? [newer, core] : [core, newer]
    if (renamed[from] !== undefined) renamed[to] = renamed[from]
    delete renamed[from]
  }
  const [group, version] = toCore ? ['', 'v1'] : ['events.k8s.io', 'v1']
  const { object: converted } = decodeBuiltin({ group, version, kind: 'Event' }, deepClone(renamed))
  return converted as CoreEvent | NewerEvent
}

/** An event of either group under the names of the core group. */
export function toCoreEvent(object: CoreEvent | NewerEvent): CoreEvent {
  return convertEvent(object, 'v1') as CoreEvent
}
