import { type JsonObject, readJson, writeJsonBytes } from '@coxswain/apimachinery/json'
import { decodeText, encodeText } from '@coxswain/kit'

/**
 * The bytes of an object as stored: JSON that begins `{"kind":K,"apiVersion":V,"metadata":{` and has
 * no resourceVersion, which is not known before the commit. This form determines where it is spliced in.
 */
export function encodeStored(object: JsonObject): Uint8Array {
  const { kind, apiVersion, metadata, ...rest } = object
  const { resourceVersion: _, ...stored } = metadata as JsonObject
  return writeJsonBytes({ kind, apiVersion, metadata: stored, ...rest })
}

const metadataMark = encodeText('"metadata":{')
const untypedHead = encodeText('{"metadata":{')
const versionHead = encodeText('"resourceVersion":"')
const newline = 0x0a
const quote = 0x22
const comma = 0x2c
/** The maximum length of a spliced resourceVersion. */
const versionRoom = 48

/** How many parsed objects are cached; the oldest is evicted first. */
const peeked = new Map<StoredObject, JsonObject>()
const peekedLimit = { objects: 256, bytes: 32 * 1024 * 1024 }
/** Total bytes of their stored forms. */
let peekedBytes = 0

/** Where `"resourceVersion":"N",` is inserted. Only kind and apiVersion precede it, and they cannot contain the mark. */
function findSplice(bytes: Uint8Array): number {
  const mark = metadataMark
  outer: for (let at = 0, last = bytes.length - mark.length; at <= last; at++) {
    for (let i = 0; i < mark.length; i++) if (bytes[at + i] !== mark[i]) continue outer
    return at + mark.length
  }
  throw new Error('stored bytes without metadata')
}

/** What precedes the metadata. */
function readHead(bytes: Uint8Array): { readonly apiVersion: string } {
  return JSON.parse(`${decodeText(bytes.subarray(0, findSplice(bytes)))}}}`) as { apiVersion: string }
}

/**
 * One object at one revision, as the watch cache keeps it. Only the bytes and the labels stay in memory: readers that
 * need fields parse a copy of their own. The bytes are the store's until the object is first read by itself; from then
 * on they are the served form, so that later readers get them without a copy.
 */
export class StoredObject {
  readonly key: string
  /** Empty for cluster-scoped objects. */
  readonly namespace: string
  readonly name: string
  readonly revision: number
  /** Whether the store holds an older form, from which these bytes were derived: writing them changes the store. */
  readonly reread: boolean
  #bytes: Uint8Array
  /** The length of the resourceVersion in the bytes; 0 for the stored form. The served form also ends with a newline. */
  #versionLength = 0
  #labels: Readonly<Record<string, string>> | undefined
  #apiVersion: string | undefined

  constructor(
    key: string,
    namespace: string,
    name: string,
    revision: number,
    stored: Uint8Array,
    reread: boolean = false,
  ) {
    this.key = key
    this.namespace = namespace
    this.name = name
    this.revision = revision
    this.#bytes = stored
    this.reread = reread
  }

  /** The length of the stored form. */
  get size(): number {
    return this.#end - this.#versionLength
  }

  /** Where the object ends in the bytes. */
  get #end(): number {
    return this.#versionLength === 0 ? this.#bytes.length : this.#bytes.length - 1
  }

  /** The apiVersion it is stored in. */
  get apiVersion(): string {
    this.#apiVersion ??= readHead(this.#bytes).apiVersion
    return this.#apiVersion
  }

  /** Whether these are the stored bytes: writing them would change nothing. */
  hasBytes(bytes: Uint8Array): boolean {
    if (this.reread || this.size !== bytes.length) return false
    const own = this.#bytes
    const skipped = this.#versionLength
    const splice = skipped === 0 ? bytes.length : findSplice(own)
    for (let i = 0; i < splice; i++) if (own[i] !== bytes[i]) return false
    for (let i = splice; i < bytes.length; i++) if (own[i + skipped] !== bytes[i]) return false
    return true
  }

  /** Whether the stored bytes end with these. */
  endsWith(bytes: Uint8Array): boolean {
    const own = this.#bytes
    const start = this.#end - bytes.length
    if (this.reread || start < 0) return false
    for (let i = 0; i < bytes.length; i++) if (own[start + i] !== bytes[i]) return false
    return true
  }

  /** An upper bound of the length of the served form. */
  get servedRoom(): number {
    return this.#bytes.length + versionRoom
  }

  /** The served form with a trailing newline: a whole response body. Must not be changed. */
  served(): Uint8Array {
    if (this.#versionLength === 0) {
      const versionLength = versionHead.length + String(this.revision).length + 2
      const bytes = new Uint8Array(this.#bytes.length + versionLength + 1)
      bytes[this.write(bytes, 0)] = newline
      this.#bytes = bytes
      this.#versionLength = versionLength
    }
    return this.#bytes
  }

  /** Writes the served form to `target` at `at`, which must have space for it, and returns the position after it. */
  write(target: Uint8Array, at: number): number {
    const splice = findSplice(this.#bytes)
    target.set(this.#bytes.subarray(0, splice), at)
    return this.#writeRest(target, at + splice, splice)
  }

  /** As {@link write}, without kind and apiVersion, which items of built-in lists do not have. */
  writeUntyped(target: Uint8Array, at: number): number {
    target.set(untypedHead, at)
    return this.#writeRest(target, at + untypedHead.length, findSplice(this.#bytes))
  }

  /** What follows the opening brace of the metadata. */
  #writeRest(target: Uint8Array, at: number, splice: number): number {
    let place = at
    if (this.#versionLength === 0) {
      target.set(versionHead, place)
      place += versionHead.length
      const digits = String(this.revision)
      for (let i = 0; i < digits.length; i++) target[place++] = digits.charCodeAt(i)
      target[place++] = quote
      target[place++] = comma
    }
    const end = this.#end
    target.set(this.#bytes.subarray(splice, end), place)
    return place + end - splice
  }

  /** The object with its resourceVersion: a fresh copy at every call. */
  parse(): JsonObject {
    const object = readJson(this.#bytes, { maxBytes: Number.POSITIVE_INFINITY, literals: false })
      .value as JsonObject
    const metadata = object.metadata as JsonObject
    metadata.resourceVersion = String(this.revision)
    return object
  }

  /**
   * The object with its resourceVersion, parsed once for all readers: must not be changed. For the few
   * objects that many requests read; others are soon evicted.
   */
  peek(): Readonly<JsonObject> {
    let object = peeked.get(this)
    if (!object) {
      object = this.parse()
      peeked.set(this, object)
      peekedBytes += this.size
      for (const oldest of peeked.keys()) {
        if (peeked.size <= peekedLimit.objects && peekedBytes <= peekedLimit.bytes) break
        peeked.delete(oldest)
        peekedBytes -= oldest.size
      }
    }
    return object
  }

  get labels(): Readonly<Record<string, string>> {
    this.#labels ??= ((this.parse().metadata as JsonObject).labels ?? {}) as Record<string, string>
    return this.#labels
  }

  /** The same object with other content, as the current schema reads it. */
  as(object: JsonObject): StoredObject {
    return new StoredObject(this.key, this.namespace, this.name, this.revision, encodeStored(object), true)
  }

  /** The same object with another revision: a DELETED event carries the revision of the deletion. */
  at(revision: number): StoredObject {
    const { key, namespace, name, reread } = this
    const copy = new StoredObject(key, namespace, name, revision, this.#storedBytes(), reread)
    copy.#labels = this.#labels
    return copy
  }

  #storedBytes(): Uint8Array {
    if (this.#versionLength === 0) return this.#bytes
    const splice = findSplice(this.#bytes)
    const bytes = new Uint8Array(this.size)
    bytes.set(this.#bytes.subarray(0, splice))
    bytes.set(this.#bytes.subarray(splice + this.#versionLength, this.#end), splice)
    return bytes
  }
}
