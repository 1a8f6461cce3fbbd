import { type ApiObject, type DeepReadonly, formatKey, keyOf } from '@coxswain/apimachinery/meta'
import { changedFields } from './internal/changed-fields.ts'

/** What caused a reconcile. */
export type TriggerType =
  /** The object was in the initial list. */
  | 'Initial'
  | 'Added'
  | 'Updated'
  | 'Deleted'
  /** The periodic resync. */
  | 'Resync'
  /** A channel: something outside the cluster. */
  | 'Channel'
  /** A custom source sent the key. */
  | 'Generic'
  | 'Timer'
  /** The last reconcile asked for it. */
  | 'RequeueAfter'
  /** The last reconcile failed. */
  | 'Retry'

/** One cause of a reconcile. */
export interface Trigger {
  readonly type: TriggerType
  /** `Pod default/a`: the object of the event, except for timers. */
  readonly object?: string
  readonly resourceVersion?: string
  /** Which fields changed, as `spec.replicas: 1 -> 2`. Computed on first access. */
  readonly changed?: readonly string[]
}

/** The most triggers that are remembered between two reconciles of one object. */
const maxTriggers = 10

/** A trigger of an object's event, which compares the two states lazily. */
export function objectTrigger(
  type: TriggerType,
  kind: string,
  { object, old }: { readonly object: DeepReadonly<ApiObject>; readonly old?: DeepReadonly<ApiObject> },
): Trigger {
  const trigger = {
    type,
    object: `${kind} ${formatKey(keyOf(object))}`,
    resourceVersion: object.metadata.resourceVersion,
  }
  if (!old || old === object) return trigger
  let changed: readonly string[] | undefined
  return Object.defineProperty(trigger, 'changed', {
    enumerable: true,
    get: () => {
      changed ??= changedFields(old, object)
      return changed
    },
  })
}

/** The triggers of each object, collected until it is reconciled. */
export class TriggerLog {
  readonly #triggers = new Map<string, Trigger[]>()

  add(key: string, trigger: Trigger): void {
    const triggers = this.#triggers.get(key)
    if (isTimer(trigger) && triggers?.some(isTimer)) return
    if (!triggers) this.#triggers.set(key, [trigger])
    else if (triggers.length < maxTriggers) triggers.push(trigger)
    else triggers[maxTriggers - 1] = trigger
  }

  /** Takes the triggers since the last reconcile. Timers are included only when there are no others. */
  take(key: string): readonly Trigger[] {
    const triggers = this.#triggers.get(key) ?? []
    this.#triggers.delete(key)
    if (!triggers.some(isTimer)) return triggers
    const others = triggers.filter(trigger => !isTimer(trigger))
    return others.length > 0 ? others : triggers
  }
}

const isTimer = (trigger: Trigger): boolean => trigger.type === 'RequeueAfter' || trigger.type === 'Retry'
