import type { ApiObject, DeepReadonly } from '@coxswain/apimachinery/meta'
import { InformerError } from './errors.ts'

/** Freezes `value` and everything in it. What is frozen already is taken to be so all the way down. */
export function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value
  for (const member of Object.values(value)) deepFreeze(member)
  return Object.freeze(value)
}

/**
 * Finds objects of a store that somebody changed in place, by comparing each with what it was when it came. Costs a
 * second copy of everything: for tests, and for hunting a bug.
 */
export class MutationDetector {
  readonly #taken = new Map<string, { readonly object: DeepReadonly<ApiObject>; readonly text: string }>()

  remember(key: string, object: DeepReadonly<ApiObject>): void {
    this.#taken.set(key, { object, text: JSON.stringify(object) })
  }

  forget(key: string): void {
    this.#taken.delete(key)
  }

  /** One error for each object that has changed; each is reported once. */
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
