/**
 * The bytes of request bodies in memory, over all connections. An owner holds at most as much as is left free:
 * a single one gets half, n greedy ones get a share of 1/(n + 1) each, and there is always space for one more.
 */
export class BodyBudget {
  readonly #limit: number
  readonly #held = new Map<string, number>()
  #used = 0

  constructor(limit: number) {
    this.#limit = limit
  }

  get used(): number {
    return this.#used
  }

  /** False when there is no space; nothing is taken then. */
  take(owner: string, bytes: number): boolean {
    const held = (this.#held.get(owner) ?? 0) + bytes
    if (held > this.#limit - this.#used - bytes) return false
    this.#used += bytes
    this.#held.set(owner, held)
    return true
  }

  give(owner: string, bytes: number): void {
    if (bytes === 0) return
    this.#used -= bytes
    const held = (this.#held.get(owner) ?? 0) - bytes
    if (held > 0) this.#held.set(owner, held)
    else this.#held.delete(owner)
  }
}
