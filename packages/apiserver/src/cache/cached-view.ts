import type { WatchCache } from './watch-cache.ts'

/** What a view is computed from: stored objects, and the served resources. */
export interface ViewPorts {
  readonly cache: WatchCache
  readonly registry: { readonly generation: number }
}

/** A value computed from stored objects, and recomputed when one of them or the served resources have changed. */
export class CachedView<T> {
  readonly #ports: ViewPorts
  readonly #make: () => T
  #made: { readonly value: T; readonly generation: number } | undefined

  constructor(ports: ViewPorts, prefixes: readonly string[], make: () => T) {
    this.#ports = ports
    this.#make = make
    const forget = () => {
      this.#made = undefined
    }
    for (const prefix of prefixes)
      ports.cache.resource(prefix).addWatcher({ namespace: '', onEvent: forget, onEnd: forget })
  }

  get value(): T {
    const { generation } = this.#ports.registry
    if (this.#made?.generation !== generation) this.#made = { value: this.#make(), generation }
    return this.#made.value
  }
}
