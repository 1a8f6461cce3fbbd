import type { ApiObject } from '@coxswain/apimachinery/meta'
import type { Logger } from '@coxswain/kit'
import type { ReadonlyStore } from '../store.ts'

/** Caches with fewer objects are never reported, whatever their size. */
const smallest = 1_000
const largeBytes = 100 * 2 ** 20
const sampleSize = 50

/** Warns, with numbers, when a cache has become large, and again each time it has doubled. */
export class SizeWatch {
  readonly #log: Logger
  #next = smallest
  #warnAt = largeBytes

  constructor(log: Logger) {
    this.#log = log
  }

  check(store: ReadonlyStore<ApiObject>): void {
    if (store.size < this.#next) return
    this.#next = store.size * 2
    const objects = store.list()
    const stride = Math.ceil(objects.length / sampleSize)
    let characters = 0
    let sampled = 0
    for (let i = 0; i < objects.length; i += stride, sampled++) {
      characters += JSON.stringify(objects[i]).length
    }
    const bytes = Math.round((characters / sampled) * objects.length)
    if (bytes < this.#warnAt) return
    this.#warnAt = bytes * 2
    this.#log.warn('a cache has grown large: narrow it with a selector, a transform, or keep metadata only', {
      objects: objects.length,
      averageBytes: Math.round(characters / sampled),
      bytes,
    })
  }
}
