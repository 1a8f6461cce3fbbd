import { compareCodePoints, printJson } from '../go/print-value.ts'
import { quote } from '../go/quote.ts'
import { isPlainObject } from '../json/plain.ts'
import type { ManagedFieldsEntry } from '../meta/meta.ts'
import { decodeFieldSet, encodeFieldSet, type FieldSet, union } from './field-set.ts'
import { TypedValueError } from './path-element.ts'

/** The fields that one manager owns. */
export interface Manager {
  readonly manager: string
  readonly operation: 'Apply' | 'Update'
  readonly subresource: string
  /** The version of `set`. */
  readonly apiVersion: string
  readonly set: FieldSet
  /** When it last changed something; `undefined` if it never did. */
  readonly time: string | undefined
  /** The entry this was read from, while it is unchanged. */
  readonly entry?: ManagedFieldsEntry
  /** `set` in its stored form, if that is known. */
  readonly fields?: ManagedFieldsEntry['fieldsV1']
}

/** Managers by their identifiers. */
export type Managers = Map<string, Manager>

/**
 * Identifies a manager: an applier by its name, an updater by its name and version, both by their subresource. It is
 * upstream's text, because messages are sorted by it.
 */
export function managerIdentifier(
  manager: Pick<Manager, 'manager' | 'operation' | 'apiVersion' | 'subresource'>,
): string {
  const { operation, apiVersion, subresource } = manager
  const name = manager.manager === '' ? '' : `"manager":${printJson(manager.manager)},`
  const version = operation === 'Apply' ? '' : `,"apiVersion":${printJson(apiVersion)}`
  const part = subresource === '' ? '' : `,"subresource":${printJson(subresource)}`
  return `{${name}"operation":"${operation}"${version}${part}}`
}

/** Throws a {@link TypedValueError} for invalid entries. */
export function decodeManagedFields(entries: unknown): Managers {
  const managers: Managers = new Map()
  if (!Array.isArray(entries)) return managers
  for (let i = 0; i < entries.length; i++) {
    const entry: unknown = entries[i]
    const manager = decodeEntry(isPlainObject(entry) ? (entry as ManagedFieldsEntry) : {}, i)
    managers.set(managerIdentifier(manager), manager)
  }
  return managers
}

function decodeEntry(entry: ManagedFieldsEntry, index: number): Manager {
  const { operation } = entry
  const apiVersion = textOf(entry.apiVersion)
  const fieldsType = textOf(entry.fieldsType)
  if (operation !== 'Apply' && operation !== 'Update') {
    throw new TypedValueError('operation must be `Apply` or `Update`')
  }
  if (apiVersion === '') throw new TypedValueError('apiVersion must not be empty')
  if (fieldsType !== 'FieldsV1') {
    const what = fieldsType === '' ? 'missing fieldsType' : `invalid fieldsType ${quote(fieldsType)}`
    throw new TypedValueError(`${what} in managed fields entry ${index}`)
  }
  return {
    manager: textOf(entry.manager),
    operation,
    subresource: textOf(entry.subresource),
    apiVersion,
    set: decodeFieldSet(entry.fieldsV1),
    time: typeof entry.time === 'string' ? entry.time : undefined,
    entry,
  }
}

/** A client may send values of the wrong type. */
function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

/** The entries in their stored form; `undefined` when there are no managers. */
export function encodeManagedFields(managers: Managers): ManagedFieldsEntry[] | undefined {
  if (managers.size === 0) return undefined
  const list = [...managers.values()]
  if (list.length > 1) list.sort(compareManagers)
  return list.map(encodeEntry)
}

function encodeEntry(manager: Manager): ManagedFieldsEntry {
  if (manager.entry !== undefined) return manager.entry
  return {
    ...(manager.manager === '' ? {} : { manager: manager.manager }),
    operation: manager.operation,
    apiVersion: manager.apiVersion,
    ...(manager.time === undefined ? {} : { time: manager.time }),
    fieldsType: 'FieldsV1',
    fieldsV1: manager.fields ?? (encodeFieldSet(manager.set) as Record<string, unknown>),
    ...(manager.subresource === '' ? {} : { subresource: manager.subresource }),
  }
}

/** Appliers first, then by time and name. */
function compareManagers(a: Manager, b: Manager): number {
  if (a.operation !== b.operation) return a.operation < b.operation ? -1 : 1
  return (
    secondsOf(a) - secondsOf(b) ||
    compareCodePoints(a.manager, b.manager) ||
    compareCodePoints(a.apiVersion, b.apiVersion) ||
    compareCodePoints(a.subresource, b.subresource)
  )
}

function secondsOf({ time }: Manager): number {
  const milliseconds = time === undefined ? 0 : Date.parse(time)
  return Number.isNaN(milliseconds) ? 0 : Math.floor(milliseconds / 1000)
}

/** The manager with another set, detached from the entry it was read from. */
export function withSet(manager: Manager, set: FieldSet): Manager {
  if (set === manager.set) return manager
  const { entry: _entry, fields: _fields, ...rest } = manager
  return { ...rest, set }
}

/** A client that sends no entries, or one without content, asks to drop them. */
export function isReset(entries: unknown): boolean {
  if (!Array.isArray(entries)) return false
  if (entries.length === 0) return true
  const [first] = entries as unknown[]
  return (
    entries.length === 1 && typeof first === 'object' && first !== null && Object.keys(first).length === 0
  )
}

const maxUpdaters = 10
const oldUpdates = 'ancient-changes'

/** Beyond ten updaters, the oldest of each version are merged into one. */
export function capUpdaters(managers: Managers): void {
  const updaters = [...managers.keys()].filter(id => managers.get(id)!.operation === 'Update')
  if (updaters.length <= maxUpdaters) return
  const seconds = new Map(updaters.map(id => [id, secondsOf(managers.get(id)!)]))
  updaters.sort((a, b) => seconds.get(a)! - seconds.get(b)! || compareCodePoints(a, b))
  const firsts = new Map<string, string>()
  let count = updaters.length
  for (const id of updaters) {
    if (count <= maxUpdaters) return
    const { apiVersion, time, set } = managers.get(id)!
    const first = firsts.get(apiVersion)
    if (first === undefined) {
      firsts.set(apiVersion, id)
      continue
    }
    const bucket: Manager = {
      manager: oldUpdates,
      operation: 'Update',
      subresource: '',
      apiVersion,
      set,
      time,
    }
    const bucketId = managerIdentifier(bucket)
    const merged = managers.get(bucketId) ?? managers.get(first)!
    if (!managers.has(bucketId)) managers.delete(first)
    managers.set(bucketId, { ...bucket, set: union(set, merged.set) })
    if (id !== bucketId) managers.delete(id)
    count--
  }
}
