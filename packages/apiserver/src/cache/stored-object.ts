import { readJson, writeJsonBytes } from '@coxswain/apimachinery'
import { encodeText, type JsonObject } from '../json.ts'

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

/** Where `"resourceVersion":"N",` goes. Kind and apiVersion, the only things before it, cannot contain the mark. */
function findSplice(bytes: Uint8Array): number {
  const mark = metadataMark
  outer: for (let at = 0, last = bytes.length - mark.length; at <= last; at++) {
    for (let i = 0; i < mark.length; i++) if (bytes[at + i] !== mark[i]) continue outer
    return at + mark.length
  }
  throw new Error('stored bytes without metadata')
}

/**
 * One object at one revision, as the watch cache keeps it. Only the bytes and the labels stay in memory: whoever has to
 * look inside parses a copy of their own.
 */
export class StoredObject {
  readonly key: string
  /** Empty for cluster-scoped objects. */
  readonly namespace: string
  readonly name: string
  readonly revision: number
  /** Whether the store holds an older form, of which these bytes were made: a write of them changes something. */
  readonly reread: boolean
  readonly #stored: Uint8Array
  #labels: Readonly<Record<string, string>> | undefined

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
    this.#stored = stored
    this.reread = reread
  }

  /** How many bytes it holds. */
  get size(): number {
    return this.#stored.length
  }

  /** Whether the stored bytes are these: a write of them would change nothing. */
  hasBytes(bytes: Uint8Array): boolean {
    const stored = this.#stored
    if (this.reread || stored.length !== bytes.length) return false
    for (let i = 0; i < bytes.length; i++) if (stored[i] !== bytes[i]) return false
    return true
  }

  /** The served form, in two pieces of which the second is the store's own buffer. */
  pieces(): readonly [Uint8Array, Uint8Array] {
    const splice = findSplice(this.#stored)
    const version = encodeText(`"resourceVersion":"${this.revision}",`)
    const head = new Uint8Array(splice + version.length)
    head.set(this.#stored.subarray(0, splice))
    head.set(version, splice)
    return [head, this.#stored.subarray(splice)]
  }

  /** As {@link pieces}, without kind and apiVersion: the items of a list of built-in objects do not carry them. */
  untypedPieces(): readonly [Uint8Array, Uint8Array] {
    const head = encodeText(`{"metadata":{"resourceVersion":"${this.revision}",`)
    return [head, this.#stored.subarray(findSplice(this.#stored))]
  }

  /** The object with its resourceVersion: a fresh copy at every call. */
  parse(): JsonObject {
    const object = readJson(this.#stored, { maxBytes: Number.POSITIVE_INFINITY, literals: false })
      .value as JsonObject
    const metadata = object.metadata as JsonObject
    metadata.resourceVersion = String(this.revision)
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
    const copy = new StoredObject(this.key, this.namespace, this.name, revision, this.#stored, this.reread)
    copy.#labels = this.#labels
    return copy
  }
}
