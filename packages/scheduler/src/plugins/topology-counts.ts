import { labelOf } from '@coxswain/kinds'

/** Counts by topology key and value. Counts of zero are removed. */
export class Counts {
  readonly #byKey = new Map<string, Map<string, number>>()

  get isEmpty(): boolean {
    return this.#byKey.size === 0
  }

  /** Does nothing if the node lacks the label. */
  add(key: string, labels: Readonly<Record<string, string>>, delta: number): void {
    const value = labelOf(labels, key)
    if (value === undefined) return
    const values = this.#byKey.get(key) ?? new Map<string, number>()
    const count = (values.get(value) ?? 0) + delta
    if (count === 0) values.delete(value)
    else values.set(value, count)
    if (values.size === 0) this.#byKey.delete(key)
    else this.#byKey.set(key, values)
  }

  get(key: string, labels: Readonly<Record<string, string>>): number {
    return this.#byKey.get(key)?.get(labelOf(labels, key) ?? '') ?? 0
  }

  /** Whether any of the labels has a count. */
  hasAny(labels: Readonly<Record<string, string>>): boolean {
    for (const [key, values] of this.#byKey) {
      const value = labelOf(labels, key)
      if (value !== undefined && (values.get(value) ?? 0) > 0) return true
    }
    return false
  }

  clone(): Counts {
    const copy = new Counts()
    for (const [key, values] of this.#byKey) copy.#byKey.set(key, new Map(values))
    return copy
  }
}
