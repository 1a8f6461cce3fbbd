import type { ServerState } from '../request/context.ts'

/** Something that is made of stored objects, and made anew when one of them or what is served has changed. */
export class CachedView<T> {
  readonly #state: ServerState
  readonly #make: () => T
  #made: { readonly value: T; readonly generation: number } | undefined

  constructor(state: ServerState, prefixes: readonly string[], make: () => T) {
    this.#state = state
    this.#make = make
    const forget = () => {
      this.#made = undefined
    }
    for (const prefix of prefixes)
      state.cache.resource(prefix).addWatcher({ namespace: '', onEvent: forget, onEnd: forget })
  }

  get value(): T {
    const { generation } = this.#state.registry
    if (this.#made?.generation !== generation) this.#made = { value: this.#make(), generation }
    return this.#made.value
  }
}
