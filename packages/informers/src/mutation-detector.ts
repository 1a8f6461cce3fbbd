import type { ApiObject, DeepReadonly } from '@coxswain/apimachinery/meta'
import { InformerError } from './errors.ts'

/** Freezes `value` deeply. Frozen values are assumed to be deeply frozen. */
export function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value
  for (const member of Object.values(value)) deepFreeze(member)
  return Object.freeze(value)
}

/**
 * Detects mutated objects in a store, by comparing each with its original state. Costs a second copy of everything: for tests and
 * debugging.
 */
export class MutationDetector {
  readonly #taken = new Map<string, { readonly object: DeepReadonly<ApiObject>; readonly text: string }>()

  remember(key: string, object: DeepReadonly<ApiObject>): void {
    this.#taken.set(key, { object, text: JSON.stringify(object) })
  }

  forget(key: string): void {
    this.#taken.delete(key)
  }

  /** One error for each mutated object; each is reported once. */
  check(): InformerError[] {
    const errors: InformerError[] = []
    for (const [key, { object, text }] of this.#taken) {
      const now = JSON.stringify(object)
      if (now === text) continue
      errors.push(
        new InformerError(
          'ObjectMutated',
          `${object.kind} ${key} was changed in the cache: ${text} -> ${now}`,
        ),
      )
      this.#taken.set(key, { object, text: now })
    }
    return errors
  }
}
