import type { PlainObject } from '../json/plain.ts'
import { difference, type FieldSet, intersection, isEmptySet, union } from './field-set.ts'
import { type Manager, type Managers, withSet } from './managed-fields.ts'
import { prune } from './prune.ts'
import { reconcileSet } from './reconcile-set.ts'
import { type Comparison, compareTyped } from './typed-compare.ts'
import { mergeTyped } from './typed-merge.ts'
import { fieldSetOf } from './typed-walk.ts'
import type { UpdaterContext } from './updater-context.ts'

/** Paths of one request that another manager owns with other values. */
export interface Conflict {
  /** The identifier of the manager. */
  readonly manager: string
  readonly set: FieldSet
}

/** Thrown inside the package only: callers get a 409. */
export class ConflictError extends Error {
  readonly conflicts: readonly Conflict[]
  /** All managers at that time. */
  readonly managers: Managers

  constructor(conflicts: readonly Conflict[], managers: Managers) {
    super('conflict')
    this.conflicts = conflicts
    this.managers = managers
  }
}

/** Removed versions lose their managers; sets follow schema changes. */
function reconcile(managers: Managers, live: PlainObject, context: UpdaterContext): void {
  for (const [id, manager] of managers) {
    const type = context.typeOf(manager.apiVersion)
    if (type === undefined || context.convert(live, manager.apiVersion) === undefined) managers.delete(id)
    else managers.set(id, withSet(manager, reconcileSet(manager.set, type)))
  }
}

/** An object before and after a write. */
export interface Change {
  readonly before: PlainObject
  readonly after: PlainObject
}

function compareFiltered(
  { before, after }: Change,
  apiVersion: string,
  context: UpdaterContext,
): Comparison | undefined {
  const comparison = compareTyped(before, after, context.typeOf(apiVersion)!)
  if (comparison === undefined) return undefined
  return {
    removed: context.filter(comparison.removed, apiVersion),
    modified: context.filter(comparison.modified, apiVersion),
    added: context.filter(comparison.added, apiVersion),
  }
}

/**
 * Removes the changes from `before` to `after` from every manager but `workflow`. Without `force` it throws a
 * {@link ConflictError} if another manager owns a change. Changes `managers`.
 */
function takeChanges(
  managers: Managers,
  change: Change & { readonly workflow: string | undefined; readonly force: boolean },
  context: UpdaterContext,
): Comparison | undefined {
  const { before, after, workflow, force } = change
  const comparisons = new Map<string, Comparison | undefined>()
  const own = compareFiltered(change, context.apiVersion, context)
  comparisons.set(context.apiVersion, own)
  const conflicts: Conflict[] = []
  const taken: Manager[] = []
  const ids: string[] = []
  for (const [id, manager] of managers) {
    if (id === workflow) continue
    const { apiVersion } = manager
    if (!comparisons.has(apiVersion)) {
      const left = context.convert(before, apiVersion)
      const right = context.convert(after, apiVersion)
      if (left === undefined || right === undefined || context.typeOf(apiVersion) === undefined) {
        managers.delete(id)
        continue
      }
      comparisons.set(apiVersion, compareFiltered({ before: left, after: right }, apiVersion, context))
    }
    const comparison = comparisons.get(apiVersion)
    if (comparison === undefined) continue
    const set = intersection(manager.set, union(comparison.modified, comparison.added))
    if (!isEmptySet(set)) conflicts.push({ manager: id, set })
    ids.push(id)
    taken.push(withSet(manager, difference(difference(manager.set, set), comparison.removed)))
  }
  if (!force && conflicts.length > 0) throw new ConflictError(conflicts, managers)
  for (let i = 0; i < ids.length; i++) managers.set(ids[i]!, taken[i]!)
  for (const [id, manager] of managers) if (isEmptySet(manager.set)) managers.delete(id)
  return own
}

/**
 * Removes what a write changes from its managers; returns it, for the caller to give to the manager that made the write.
 * Changes `managers`.
 */
export function trackUpdate(
  managers: Managers,
  { before, after }: Change,
  context: UpdaterContext,
): FieldSet | undefined {
  reconcile(managers, before, context)
  const comparison = takeChanges(managers, { before, after, workflow: undefined, force: true }, context)
  return comparison === undefined ? undefined : union(comparison.modified, comparison.added)
}

export interface ApplyConfigRequest {
  readonly live: PlainObject
  readonly config: PlainObject
  /** The identifier of the applier. */
  readonly id: string
  readonly manager: Omit<Manager, 'set' | 'time'>
  readonly force: boolean
}

/** `live` after `config` is applied. Changes `managers`. */
export function applyConfig(
  managers: Managers,
  request: ApplyConfigRequest,
  context: UpdaterContext,
): PlainObject {
  const { live, config } = request
  reconcile(managers, live, context)
  const type = context.typeOf(context.apiVersion)!
  const merged = mergeTyped(live, config, type) as PlainObject
  const last = managers.get(request.id)
  const set = context.filter(fieldSetOf(config, type), context.apiVersion)
  managers.set(request.id, { ...request.manager, set, time: last?.time })
  const next = prune(merged, { last, set, managers }, context)
  const change = { before: live, after: next, workflow: request.id, force: request.force }
  takeChanges(managers, change, context)
  return next
}
