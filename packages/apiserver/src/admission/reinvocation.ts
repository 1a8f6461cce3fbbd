import { deepClone, deepEqual, type JsonObject } from '@coxswain/apimachinery/json'

/**
 * The memory of one request's mutating round: a webhook or policy that changes the object makes all plug-ins run a second
 * time, in which only those hooks run again that asked for it and ran before the change.
 */
export class Reinvocation {
  #isSecond = false
  #isWanted = false
  readonly #hooks = new Map<string, InvokedHooks>()

  /** Whether this is the second round. There is no third. */
  get isSecond(): boolean {
    return this.#isSecond
  }

  get isWanted(): boolean {
    return this.#isWanted
  }

  /** A plug-in has changed the object. */
  want(): void {
    this.#isWanted = true
  }

  begin(): void {
    this.#isSecond = true
  }

  /** What a plug-in remembers of its hooks. */
  hooksOf(plugin: string): InvokedHooks {
    let hooks = this.#hooks.get(plugin)
    if (!hooks) {
      hooks = new InvokedHooks()
      this.#hooks.set(plugin, hooks)
    }
    return hooks
  }
}

export class InvokedHooks {
  #output: JsonObject | undefined
  /** Have run, and may run again when something changes the object after them. */
  #eligible = new Set<string>()
  readonly #again = new Set<string>()

  /** Whether the object is not the one that the plug-in left behind. */
  isChanged(object: JsonObject | undefined): boolean {
    return !deepEqual(this.#output, object)
  }

  remember(object: JsonObject | undefined): void {
    this.#output = object && deepClone(object)
  }

  add(hook: string): void {
    this.#eligible.add(hook)
  }

  /** The object has changed: those that ran before are to run again. */
  requireAll(): void {
    for (const hook of this.#eligible) this.#again.add(hook)
    this.#eligible = new Set()
  }

  isRequired(hook: string): boolean {
    return this.#again.has(hook)
  }
}
