import { type ApiObject, type DeepReadonly, formatKey, keyOf } from '@coxswain/apimachinery/meta'
import { changedFields } from './internal/changed-fields.ts'

export type TriggerType =
  /** The object was there when the operator started. */
  | 'Initial'
  | 'Added'
  | 'Updated'
  | 'Deleted'
  /** Nothing happened: it is time to look again at everything. */
  | 'Resync'
  /** Something outside the cluster. */
  | 'Channel'
  /** A custom source sent the key. */
  | 'Generic'
  | 'Timer'
  /** The last reconcile asked for it. */
  | 'RequeueAfter'
  /** The last reconcile failed. */
  | 'Retry'

/** One reason to reconcile. */
export interface Trigger {
  readonly type: TriggerType
  /** `Pod default/a`: what it happened to, when it is not only about time. */
  readonly object?: string
  readonly resourceVersion?: string
  /** Which fields changed, as `spec.replicas: 1 -> 2`. Found when first asked for. */
  readonly changed?: readonly string[]
}

/** The most triggers that are remembered between two reconciles of one object. */
const maxTriggers = 10

/** A trigger about an object, which compares the two states only when somebody wants to know. */
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

/** Why each object is to be reconciled, collected until it is. */
export class TriggerLog {
  readonly #triggers = new Map<string, Trigger[]>()

  add(key: string, trigger: Trigger): void {
    const triggers = this.#triggers.get(key)
    if (isTimer(trigger) && triggers?.some(isTimer)) return
    if (!triggers) this.#triggers.set(key, [trigger])
    else if (triggers.length < maxTriggers) triggers.push(trigger)
    else triggers[maxTriggers - 1] = trigger
  }

  /** What has come together since the last time. That time has passed is a reason only when there is no other. */
  take(key: string): readonly Trigger[] {
    const triggers = this.#triggers.get(key) ?? []
    this.#triggers.delete(key)
    if (!triggers.some(isTimer)) return triggers
    const others = triggers.filter(trigger => !isTimer(trigger))
    return others.length > 0 ? others : triggers
  }
}

const isTimer = (trigger: Trigger): boolean => trigger.type === 'RequeueAfter' || trigger.type === 'Retry'
