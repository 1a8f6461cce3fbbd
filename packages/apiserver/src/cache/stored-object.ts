import { type JsonObject, readJson, writeJsonBytes } from '@coxswain/apimachinery/json'
import { decodeText, encodeText } from '@coxswain/kit'

/**
 * The bytes of an object as they stand in the store: JSON that begins `{"kind":K,"apiVersion":V,"metadata":{` and has
 * no resourceVersion, which is not known before the commit. The place where it is spliced in follows from that form.
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
/** What a resourceVersion needs at most. */
const versionRoom = 48

/** Parsed objects that may be looked at; the oldest is forgotten first. */
const peeked = new Map<StoredObject, JsonObject>()
const peekedLimit = { objects: 256, bytes: 32 * 1024 * 1024 }
/** Of the stored forms of all of them. */
let peekedBytes = 0

/** Where `"resourceVersion":"N",` goes. Kind and apiVersion, the only things before it, cannot contain the mark. */
function findSplice(bytes: Uint8Array): number {
  const mark = metadataMark
  outer: for (let at = 0, last = bytes.length - mark.length; at <= last; at++) {
    for (let i = 0; i < mark.length; i++) if (bytes[at + i] !== mark[i]) continue outer
    return at + mark.length
  }
  throw new Error('stored bytes without metadata')
}

/** What stands before the metadata. */
function readHead(bytes: Uint8Array): { readonly apiVersion: string } {
  return JSON.parse(`${decodeText(bytes.subarray(0, findSplice(bytes)))}}}`) as { apiVersion: string }
}

/**
 * One object at one revision, as the watch cache keeps it. Only the bytes and the labels stay in memory: whoever has to
 * look inside parses a copy of their own. The bytes are the store's until the object is asked for by itself; from then
 * on they are the served ones, so that the next who asks gets them without a copy.
 */
export class StoredObject {
  readonly key: string
  /** Empty for cluster-scoped objects. */
  readonly namespace: string
  readonly name: string
  readonly revision: number
  /** Whether the store holds an older form, of which these bytes were made: a write of them changes something. */
  readonly reread: boolean
  #bytes: Uint8Array
  /** How long the resourceVersion in the bytes is; 0 when they are the stored ones. Served ones end with a newline too. */
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

  /** How many bytes the stored form has. */
  get size(): number {
    return this.#end - this.#versionLength
  }

  /** Where the object ends in the bytes. */
  get #end(): number {
    return this.#versionLength === 0 ? this.#bytes.length : this.#bytes.length - 1
  }

  /** The version it is in. */
  get apiVersion(): string {
    this.#apiVersion ??= readHead(this.#bytes).apiVersion
    return this.#apiVersion
  }

  /** Whether the stored bytes are these: a write of them would change nothing. */
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

  /** More bytes than the served form has. */
  get servedRoom(): number {
    return this.#bytes.length + versionRoom
  }

  /** The served form with a newline behind it: a whole answer. Not to be changed. */
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

  /** Writes the served form at `at` of `target`, which has room for it, and gives the place after it. */
  write(target: Uint8Array, at: number): number {
    const splice = findSplice(this.#bytes)
    target.set(this.#bytes.subarray(0, splice), at)
    return this.#writeRest(target, at + splice, splice)
  }

  /** As {@link write}, without kind and apiVersion: the items of a list of built-in objects do not carry them. */
  writeUntyped(target: Uint8Array, at: number): number {
    target.set(untypedHead, at)
    return this.#writeRest(target, at + untypedHead.length, findSplice(this.#bytes))
  }

  /** What comes after the opening brace of the metadata. */
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
   * The object with its resourceVersion, parsed once for all who only look at it: not to be changed. For the few
   * objects that many requests look at; the rest is soon forgotten again.
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

  /** The same object with another content, as today's schema reads it. */
  as(object: JsonObject): StoredObject {
    return new StoredObject(this.key, this.namespace, this.name, this.revision, encodeStored(object), true)
  }

  /** The same object carrying another revision: a deletion is told with the revision of the deletion. */
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
