import {
  decodeFieldSet,
  difference,
  encodeFieldSet,
  hasPath,
  isEmptySet,
  setAt,
} from '@coxswain/apimachinery/apply'
import type { ManagedFieldsEntry } from '@coxswain/apimachinery/meta'

const scaleVersion = 'autoscaling/v1'
const scaleFields = { 'f:spec': { 'f:replicas': {} } }

/** Where the versions of a kind have the replicas that a Scale shows. */
export interface ReplicasPaths {
  /** The version in which the owner of the replicas is recorded. */
  readonly apiVersion: string
  /** Field paths by apiVersion, such as `['spec', 'replicas']`. */
  readonly paths: ReadonlyMap<string, readonly string[]>
}

const elements = (path: readonly string[]): string[] => path.map(name => `f:${name}`)

const ownsPath = (entry: ManagedFieldsEntry, path: readonly string[]): boolean =>
  hasPath(decodeFieldSet((entry.fieldsV1 ?? {}) as never), elements(path) as never)

/** The owners of the replicas, as managers of the Scale. */
export function managersOfScale(
  entries: readonly ManagedFieldsEntry[],
  { paths }: ReplicasPaths,
): ManagedFieldsEntry[] {
  return entries
    .filter(entry => {
      const path = paths.get(entry.apiVersion ?? '')
      return path !== undefined && ownsPath(entry, path)
    })
    .map(entry => ({ ...entry, apiVersion: scaleVersion, fieldsV1: scaleFields }))
}

/**
 * The object's managers after a write through its Scale. The Scale's owner of the replicas becomes their owner here, in an
 * entry without a time unless it is an existing apply entry; all other managers lose them.
 */
export function managersOfParent(
  entries: readonly ManagedFieldsEntry[],
  scaleEntries: readonly ManagedFieldsEntry[],
  { apiVersion, paths }: ReplicasPaths,
): ManagedFieldsEntry[] {
  const left = new Map(scaleEntries.map(entry => [identityOf(entry), entry]))
  const kept: ManagedFieldsEntry[] = []
  for (const entry of entries) {
    const path = paths.get(entry.apiVersion ?? '')
    if (!path) continue
    if (!ownsPath(entry, path) || left.delete(identityOf(entry))) {
      kept.push(entry)
      continue
    }
    const rest = difference(decodeFieldSet((entry.fieldsV1 ?? {}) as never), setAt(elements(path) as never))
    if (!isEmptySet(rest))
      kept.push({ ...entry, fieldsV1: encodeFieldSet(rest) as object } as ManagedFieldsEntry)
  }
  const path = paths.get(apiVersion) ?? []
  const added = [...left.values()]
    .filter(entry => Object.keys((entry.fieldsV1 ?? {}) as object).length > 0)
    .map(({ time: _, ...entry }) => ({
      ...entry,
      apiVersion,
      fieldsV1: encodeFieldSet(setAt(elements(path) as never)) as object,
    }))
  return [...kept, ...(added as ManagedFieldsEntry[])].sort(byTime)
}

/** Apply entries first, then by time; entries without one are the oldest. */
function byTime(one: ManagedFieldsEntry, other: ManagedFieldsEntry): number {
  const key = ({ operation, time = '', manager = '', subresource = '' }: ManagedFieldsEntry) =>
    [operation ?? '', time, manager, subresource].join('\n')
  return key(one) < key(other) ? -1 : 1
}

/** What identifies a manager's entry: for apply entries the version does not count. */
function identityOf({ manager, operation, apiVersion, subresource }: ManagedFieldsEntry): string {
  return JSON.stringify([manager, operation, operation === 'Apply' ? '' : apiVersion, subresource ?? ''])
}
