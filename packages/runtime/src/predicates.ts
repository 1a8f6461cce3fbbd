import { deepEqual } from '@coxswain/apimachinery/json'
import type { ApiObject, DeepReadonly } from '@coxswain/apimachinery/meta'

/** Something that happened to an object, before it becomes a reason to reconcile. */
export type ObjectEvent<T extends ApiObject = ApiObject> =
  | { readonly type: 'create'; readonly object: DeepReadonly<T>; readonly isInInitialList: boolean }
  | {
      readonly type: 'update'
      readonly object: DeepReadonly<T>
      readonly old: DeepReadonly<T>
      readonly isResync: boolean
    }
  | { readonly type: 'delete'; readonly object: DeepReadonly<T>; readonly finalStateUnknown: boolean }

/** Whether an event matters. */
export type Predicate<T extends ApiObject = ApiObject> = (event: ObjectEvent<T>) => boolean

/** For updates: true when `differs` finds something. Creations, deletions and resyncs always matter. */
function onUpdate(
  differs: (old: DeepReadonly<ApiObject>, object: DeepReadonly<ApiObject>) => boolean,
): Predicate {
  return event => event.type !== 'update' || event.isResync || differs(event.old, event.object)
}

/** Updates matter only when the spec changed: the server then counts `metadata.generation` up. */
export const generationChanged: Predicate = onUpdate(
  (old, object) => old.metadata.generation !== object.metadata.generation,
)

/** Updates matter only when labels changed. */
export const labelsChanged: Predicate = onUpdate(
  (old, object) => !deepEqual(old.metadata.labels ?? {}, object.metadata.labels ?? {}),
)

/** Updates matter only when annotations changed. */
export const annotationsChanged: Predicate = onUpdate(
  (old, object) => !deepEqual(old.metadata.annotations ?? {}, object.metadata.annotations ?? {}),
)

/** Updates that changed nothing at all do not matter, resyncs included. */
export const resourceVersionChanged: Predicate = event =>
  event.type !== 'update' || event.old.metadata.resourceVersion !== event.object.metadata.resourceVersion

/** Only objects that carry these labels matter. */
export function hasLabels(labels: Readonly<Record<string, string>>): Predicate {
  const wanted = Object.entries(labels)
  return ({ object }) => wanted.every(([name, value]) => object.metadata.labels?.[name] === value)
}

export function and<T extends ApiObject>(...predicates: readonly Predicate<T>[]): Predicate<T> {
  return event => predicates.every(predicate => predicate(event))
}

export function or<T extends ApiObject>(...predicates: readonly Predicate<T>[]): Predicate<T> {
  return event => predicates.some(predicate => predicate(event))
}

export function not<T extends ApiObject>(predicate: Predicate<T>): Predicate<T> {
  return event => !predicate(event)
}
