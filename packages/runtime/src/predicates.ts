import { deepEqual } from '@coxswain/apimachinery/json'
import type { ApiObject, DeepReadonly } from '@coxswain/apimachinery/meta'

/** An event of an object, before it is mapped to keys. */
export type ObjectEvent<T extends ApiObject = ApiObject> =
  | { readonly type: 'create'; readonly object: DeepReadonly<T>; readonly isInInitialList: boolean }
  | {
      readonly type: 'update'
      readonly object: DeepReadonly<T>
      readonly old: DeepReadonly<T>
      readonly isResync: boolean
    }
  | { readonly type: 'delete'; readonly object: DeepReadonly<T>; readonly finalStateUnknown: boolean }

/** Whether an event passes. */
export type Predicate<T extends ApiObject = ApiObject> = (event: ObjectEvent<T>) => boolean

/** Passes updates for which `differs` is true. Creations, deletions and resyncs always pass. */
function onUpdate(
  differs: (old: DeepReadonly<ApiObject>, object: DeepReadonly<ApiObject>) => boolean,
): Predicate {
  return event => event.type !== 'update' || event.isResync || differs(event.old, event.object)
}

/** Passes updates only when the spec changed: the server then increments `metadata.generation`. */
export const generationChanged: Predicate = onUpdate(
  (old, object) => old.metadata.generation !== object.metadata.generation,
)

/** Passes updates only when labels changed. */
export const labelsChanged: Predicate = onUpdate(
  (old, object) => !deepEqual(old.metadata.labels ?? {}, object.metadata.labels ?? {}),
)

/** Passes updates only when annotations changed. */
export const annotationsChanged: Predicate = onUpdate(
  (old, object) => !deepEqual(old.metadata.annotations ?? {}, object.metadata.annotations ?? {}),
)

/** Drops updates that changed nothing, resyncs included. */
export const resourceVersionChanged: Predicate = event =>
  event.type !== 'update' || event.old.metadata.resourceVersion !== event.object.metadata.resourceVersion

/** Passes only objects with these labels. */
export function hasLabels(labels: Readonly<Record<string, string>>): Predicate {
  const wanted = Object.entries(labels)
  return ({ object }) => wanted.every(([name, value]) => object.metadata.labels?.[name] === value)
}

/** Passes events that all predicates pass. */
export function and<T extends ApiObject>(...predicates: readonly Predicate<T>[]): Predicate<T> {
  return event => predicates.every(predicate => predicate(event))
}

/** Passes events that at least one predicate passes. */
export function or<T extends ApiObject>(...predicates: readonly Predicate<T>[]): Predicate<T> {
  return event => predicates.some(predicate => predicate(event))
}

/** Passes events that the predicate does not pass. */
export function not<T extends ApiObject>(predicate: Predicate<T>): Predicate<T> {
  return event => !predicate(event)
}
