import { deepClone, deepEqual, type JsonObject } from '@coxswain/apimachinery/json'

/**
 * State of one request's mutating admission: when a webhook or policy changes the object, all plug-ins run a second
 * time, and then only those webhooks run again that ask for it and ran before the change.
 */
export class Reinvocation {
  #isSecond = false
  #isWanted = false
  readonly #hooks = new Map<string, InvokedHooks>()

  /** Whether this is the second pass. There is no third. */
  get isSecond(): boolean {
    return this.#isSecond
  }

  get isWanted(): boolean {
    return this.#isWanted
  }

  /** Records that a plug-in changed the object. */
  want(): void {
    this.#isWanted = true
  }

  begin(): void {
    this.#isSecond = true
  }

  /** What a plug-in tracks of its webhooks or policies. */
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
  /** Those that have run and may be reinvoked when the object changes after them. */
  #eligible = new Set<string>()
  readonly #again = new Set<string>()

  /** Whether the object changed since the plug-in last saw it. */
  isChanged(object: JsonObject | undefined): boolean {
    return !deepEqual(this.#output, object)
  }

  remember(object: JsonObject | undefined): void {
    this.#output = object && deepClone(object)
  }

  add(hook: string): void {
    this.#eligible.add(hook)
  }

  /** The object changed: those that ran before are reinvoked. */
  requireAll(): void {
    for (const hook of this.#eligible) this.#again.add(hook)
    this.#eligible = new Set()
  }

  isRequired(hook: string): boolean {
    return this.#again.has(hook)
  }
}
