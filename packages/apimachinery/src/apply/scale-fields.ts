import type { ManagedFieldsEntry } from '../meta.ts'
import { difference, type FieldSet, hasPath, isEmptySet, setAt } from './field-set.ts'
import {
  decodeManagedFields,
  encodeManagedFields,
  type Manager,
  type Managers,
  withSet,
} from './managed-fields.ts'

/** The one field of a Scale that managers own. */
const scaleVersion = 'autoscaling/v1'
const scalePath = ['f:spec', 'f:replicas']
const scaleSet: FieldSet = setAt(scalePath)

/**
 * Where each version of a resource keeps its replicas, as a dotted path; `undefined` for a version that is served without
 * `scale`. Entries of versions that are not in the map are dropped.
 */
export type ReplicasPaths = ReadonlyMap<string, string | undefined>

/** The entries of a resource as its `scale` shows them: those that own the replicas, in Scale's own words. */
export function toScaleManagedFields(
  entries: readonly ManagedFieldsEntry[] | undefined,
  paths: ReplicasPaths,
): ManagedFieldsEntry[] | undefined {
  const scale: Managers = new Map()
  for (const [id, manager] of decodeManagedFields(entries)) {
    const path = pathOf(paths, manager.apiVersion)
    if (path === undefined || !hasPath(manager.set, path)) continue
    scale.set(id, { ...withoutEntry(manager), set: scaleSet, apiVersion: scaleVersion })
  }
  return encodeManagedFields(scale)
}

/**
 * The entries of a resource after a write to its `scale`, which left `scaleEntries`: who no longer owns the replicas there
 * loses them here, who owns them there gets them here, at `apiVersion`.
 *
 * As upstream does it, an updater's ownership always moves to an entry of its own without a time, even if it had it before.
 */
export function fromScaleManagedFields(
  entries: readonly ManagedFieldsEntry[] | undefined,
  scaleEntries: readonly ManagedFieldsEntry[] | undefined,
  paths: ReplicasPaths,
  apiVersion: string,
): ManagedFieldsEntry[] | undefined {
  const parents = decodeManagedFields(entries)
  const scale = decodeManagedFields(scaleEntries)
  const result: Managers = new Map()
  for (const [id, manager] of parents) {
    if (!paths.has(manager.apiVersion)) continue
    const path = pathOf(paths, manager.apiVersion)
    if (path === undefined || !hasPath(manager.set, path) || scale.delete(id)) {
      result.set(id, manager)
      continue
    }
    const set = difference(manager.set, setAt(path))
    if (!isEmptySet(set)) result.set(id, withSet(manager, set))
  }
  const path = pathOf(paths, apiVersion)
  for (const [id, manager] of scale) {
    if (path === undefined || !hasPath(manager.set, scalePath)) continue
    result.set(id, { ...withoutEntry(manager), set: setAt(path), apiVersion, time: parents.get(id)?.time })
  }
  return encodeManagedFields(result)
}

function withoutEntry({ entry: _entry, fields: _fields, ...manager }: Manager): Manager {
  return manager
}

function pathOf(paths: ReplicasPaths, apiVersion: string): string[] | undefined {
  return paths
    .get(apiVersion)
    ?.split('.')
    .map(name => `f:${name}`)
}
