import { Buffer } from 'node:buffer'
import { prefixEnd } from '../../internal/sorted-map.ts'
import type { KeyValue } from '../../store.ts'
import type { EtcdKeyValue } from './etcd-messages.ts'

/** etcd's range end for "all following keys". */
const everything = Uint8Array.of(0)

/** Maps the store's keys to etcd's, which have a prefix. */
export class Keyspace {
  readonly #prefix: string

  constructor(prefix: string) {
    this.#prefix = prefix
  }

  toBytes(key: string): Uint8Array {
    return Buffer.from(this.#prefix + key, 'latin1')
  }

  toKey(bytes: Uint8Array): string {
    const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1')
    return text.slice(this.#prefix.length)
  }

  toKeyValue(kv: EtcdKeyValue): KeyValue {
    const { value, modRevision, createRevision, version } = kv
    return { key: this.toKey(kv.key), value, modRevision, createRevision, version }
  }

  /** The keys that start with `prefix`, from `first` on. */
  span(prefix: string, first: string = prefix): { readonly start: Uint8Array; readonly end: Uint8Array } {
    const start = this.toBytes(first > prefix ? first : prefix)
    const end = prefixEnd(this.#prefix + prefix)
    return {
      start: start.length === 0 ? everything : start,
      end: end === undefined ? everything : Buffer.from(end, 'latin1'),
    }
  }
}
