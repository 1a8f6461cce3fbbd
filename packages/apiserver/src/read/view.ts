import { builtinProtobuf } from '@coxswain/api'
import { type JsonObject, writeJson, writeJsonBytes } from '@coxswain/apimachinery/json'
import { type ListHead, protobufMediaType } from '@coxswain/apimachinery/protobuf'
import { newNotAcceptable, StatusError } from '@coxswain/apimachinery/status'
import { writeYaml } from '@coxswain/apimachinery/yaml'
import { encodeText } from '@coxswain/kit'
import {
  getHeader,
  type WireBody,
  type WireHeaders,
  type WireRequest,
  type WireResponse,
} from '@coxswain/wire'
import type { Turns } from '../cache/slices.ts'
import { StoredObject } from '../cache/stored-object.ts'
import { convertForServing, findServed, isServedAsStored, serveAll, serveOne } from '../registry/convert.ts'
import { apiVersionOf, type Endpoint } from '../registry/registry.ts'
import { type Accepted, type Encoding, negotiateObject, type Transform } from '../request/accept.ts'
import type { RequestContext } from '../request/context.ts'
import { eventBytes, sharedEvent } from './event-line.ts'
import { type ItemWriter, jsonPieces, listBody, piecesBody } from './list-body.ts'
import { protobufListBody } from './protobuf-list.ts'
import {
  columnDefinitions,
  createTablePrinter,
  type IncludeObject,
  parseIncludeObject,
  partialMetadata,
  rowObject,
  type TablePrinter,
} from './table.ts'
import type { EventEncoder } from './watch-stream.ts'
import { yamlPieces } from './yaml-list.ts'

const mediaTypes: Readonly<Record<Encoding, string>> = {
  json: 'application/json',
  yaml: 'application/yaml',
  protobuf: protobufMediaType,
}

const responseHeaders: Readonly<Record<Encoding, WireHeaders>> = {
  json: { 'content-type': mediaTypes.json, 'cache-control': 'no-cache, private' },
  yaml: { 'content-type': mediaTypes.yaml, 'cache-control': 'no-cache, private' },
  protobuf: { 'content-type': mediaTypes.protobuf, 'cache-control': 'no-cache, private' },
}

export interface ListMetadata {
  readonly resourceVersion: string
  readonly continue?: string
  readonly remainingItemCount?: number
}

/**
 * How one client sees the objects of an endpoint: in full, as a Table or as metadata only; in JSON, YAML or
 * protobuf. JSON is sent as stored unless it has to be parsed.
 */
export class View implements EventEncoder {
  readonly #endpoint: Endpoint
  readonly #accepted: Accepted
  readonly #turns: Turns
  readonly #request: WireRequest
  readonly #include: IncludeObject
  readonly #printer: TablePrinter | undefined
  /** Whether the bytes of stored objects can be sent unchanged, once they are in the endpoint's version. */
  readonly #asStored: boolean
  /** Whether a Table stream has yet to send its column definitions. */
  #columnsDue = true

  /** Throws a 406 when the client accepts no supported media type. */
  constructor(context: RequestContext, endpoint: Endpoint, turns: Turns) {
    const accepted = negotiateObject(getHeader(context.request.headers, 'accept'), endpoint.resource.bodies)
    if (!accepted) throw notAcceptable(endpoint)
    this.#endpoint = endpoint
    this.#accepted = accepted
    this.#asStored = isServedAsStored(endpoint) || endpoint.resource.mixesVersions
    this.#turns = turns
    this.#request = context.request
    const table = accepted.transform?.as === 'Table'
    this.#include = table ? parseIncludeObject(context.query.get('includeObject')) : 'Metadata'
    this.#printer = table ? createTablePrinter(endpoint) : undefined
  }

  /** Whether the client asks for lists, which a watch does not have. */
  get isListForm(): boolean {
    return this.#accepted.transform?.as === 'PartialObjectMetadataList'
  }

  /** A promise when a conversion webhook is needed. */
  object(status: number, object: StoredObject | JsonObject): WireResponse | Promise<WireResponse> {
    const served = serveOne(this.#endpoint, object)
    const answer = (shown: StoredObject | JsonObject) => this.#response(status, this.#bytes(shown))
    return served instanceof Promise ? served.then(answer) : answer(served)
  }

  /** As {@link object}. */
  list(objects: readonly StoredObject[], metadata: ListMetadata): WireResponse | Promise<WireResponse> {
    const served = serveAll(this.#endpoint, objects)
    return served instanceof Promise
      ? served.then(shown => this.#list(shown, metadata))
      : this.#list(served, metadata)
  }

  #list(objects: readonly StoredObject[], metadata: ListMetadata): WireResponse | Promise<WireResponse> {
    const { transform, encoding } = this.#accepted
    const { continue: next, ...rest } = metadata
    // The last page of custom resources has an empty `continue`, unless it is a Table or metadata only.
    const shown = transform && !next ? rest : metadata
    // The objects may be the cache's own list, which changes.
    if (transform?.as === 'Table') {
      const { rows: _, ...head } = this.#table([], shown, { transform, columns: true })
      const row = (object: StoredObject) => this.#row(this.#value(object), transform)
      return this.#pieces(head, 'rows', { of: objects.slice(), show: row })
    }
    const { info, typesListItems } = this.#endpoint.resource
    const kind = transform ? 'PartialObjectMetadataList' : info.listKind
    const apiVersion = transform ? `meta.k8s.io/${transform.version}` : this.#apiVersion
    const head = { kind, apiVersion, metadata: shown }
    if (transform || encoding !== 'json' || !this.#asStored) {
      const show = (object: StoredObject) => this.#item(this.#value(object))
      return this.#pieces(head, 'items', { of: objects.slice(), show })
    }
    const begin = `${JSON.stringify(head).slice(0, -1)},"items":[`
    return this.#response(200, listBody(begin, objects.slice(), typesListItems ? typedItems : untypedItems))
  }

  /** A list whose items are encoded one by one, as the client reads. */
  #pieces(
    head: JsonObject,
    key: string,
    { of, show }: { readonly of: readonly StoredObject[]; show(object: StoredObject): JsonObject },
  ): WireResponse | Promise<WireResponse> {
    const { encoding } = this.#accepted
    if (encoding === 'protobuf') {
      if (key !== 'items') throw withoutProtobuf(head.kind)
      const encoder = builtinProtobuf.listEncoder(head as unknown as ListHead)
      const encode = (object: StoredObject) => encoder.item(show(object))
      return protobufListBody(encoder, { of, encode, turns: this.#turns, request: this.#request }).then(
        ({ body, length }) => ({
          status: 200,
          headers: { ...responseHeaders.protobuf, 'content-length': String(length) },
          body,
        }),
      )
    }
    const pieces =
      encoding === 'yaml'
        ? yamlPieces(head, key, of.values().map(show))
        : jsonPieces(
            `${writeJson(head).slice(0, -1)},"${key}":[`,
            of.values().map(object => writeJsonBytes(show(object))),
          )
    return this.#response(200, piecesBody(pieces, this.#turns))
  }

  #tableOf(
    objects: readonly (StoredObject | JsonObject)[],
    metadata: Partial<ListMetadata>,
    transform: Transform,
  ): JsonObject {
    const rows = objects.map(object => this.#row(this.#value(object), transform))
    return this.#table(rows, metadata, { transform, columns: true })
  }

  /** A list of objects that are not stored, and so have no resourceVersion. */
  made(objects: readonly JsonObject[]): WireResponse {
    const { transform } = this.#accepted
    if (transform?.as === 'Table')
      return this.#response(200, this.#encode(this.#tableOf(objects, {}, transform)))
    const kind = transform ? 'PartialObjectMetadataList' : this.#endpoint.resource.info.listKind
    const apiVersion = transform ? `meta.k8s.io/${transform.version}` : this.#apiVersion
    const items = objects.map(object => this.#item(this.#value(object)))
    return this.#response(200, this.#encode({ kind, apiVersion, metadata: {}, items }))
  }

  /** Throws a 406 when the accepted media type cannot be streamed. */
  requireStream(): void {
    if (this.#accepted.encoding === 'yaml') throw newNotAcceptable(streamTypes)
  }

  /** The head of a watch response; the body consists of {@link event} and {@link bookmark}. */
  stream(body: AsyncIterable<Uint8Array>): WireResponse {
    const { encoding } = this.#accepted
    const type = encoding === 'protobuf' ? `${protobufMediaType};stream=watch` : mediaTypes[encoding]
    return { status: 200, headers: { 'content-type': type, 'cache-control': 'no-cache, private' }, body }
  }

  /** `object` is in the endpoint's version, or can be converted without a webhook. */
  event(type: string, changed: StoredObject | JsonObject): Uint8Array {
    const object =
      changed instanceof StoredObject ? (findServed(this.#endpoint, changed) ?? changed) : changed
    if (this.#accepted.encoding !== 'json') return this.#frame(type, this.#streamed(this.#value(object)))
    if (this.#accepted.transform?.as === 'Table') {
      return eventBytes(type, writeJsonBytes(this.#streamed(this.#value(object))))
    }
    const isShared = object instanceof StoredObject && !this.#accepted.transform && this.#asStored
    return isShared
      ? sharedEvent(type, object)
      : eventBytes(type, writeJsonBytes(this.#transformed(this.#value(object))))
  }

  /** The error of a stream: a Status, whatever form of objects the client asked for. */
  error(status: object): Uint8Array {
    return this.#accepted.encoding === 'json'
      ? eventBytes('ERROR', writeJsonBytes(status))
      : this.#frame('ERROR', status as JsonObject)
  }

  bookmark(revision: number, mark?: 'initial-events-end'): Uint8Array {
    const object = this.#bookmarkObject(revision, mark)
    const { transform, encoding } = this.#accepted
    let value = object
    if (transform?.as === 'Table') {
      const unnamed = { ...object, metadata: { ...(object.metadata as JsonObject), name: '' } }
      const cells = this.#printer!.cells(unnamed, this.#turns.clock.now())
      const row = { cells, object: partialMetadata(object, transform.version) }
      const columns = this.#takeColumns()
      value = this.#table([row], { resourceVersion: String(revision) }, { transform, columns })
    } else if (transform) value = partialMetadata(object, transform.version)
    return encoding === 'json'
      ? eventBytes('BOOKMARK', writeJsonBytes(value))
      : this.#frame('BOOKMARK', value)
  }

  get #apiVersion(): string {
    return apiVersionOf(this.#endpoint.resource.info.group, this.#endpoint.version.name)
  }

  /** An object of the watched kind with only a resourceVersion, in the form of its Go type. */
  #bookmarkObject(revision: number, mark: 'initial-events-end' | undefined): JsonObject {
    const { resource } = this.#endpoint
    return resource.bookmark(this.#endpoint, {
      kind: resource.info.kind,
      apiVersion: this.#apiVersion,
      metadata: {
        resourceVersion: String(revision),
        ...(mark && { annotations: { [`k8s.io/${mark}`]: 'true' } }),
      },
    })
  }

  #response(status: number, body: WireBody): WireResponse {
    return { status, headers: responseHeaders[this.#accepted.encoding], body }
  }

  #encode(value: JsonObject): Uint8Array {
    switch (this.#accepted.encoding) {
      case 'json':
        return encodeText(`${writeJson(value)}\n`)
      case 'yaml':
        return encodeText(writeYaml(value, { sorted: true }))
      case 'protobuf':
        return builtinProtobuf.encode(value)
    }
  }

  /** One event of a protobuf stream, with its length prefix. */
  #frame(type: string, object: JsonObject): Uint8Array {
    const bytes = builtinProtobuf.encodeWatchEvent({ type, object })
    const frame = new Uint8Array(4 + bytes.length)
    new DataView(frame.buffer).setUint32(0, bytes.length)
    frame.set(bytes, 4)
    return frame
  }

  #bytes(object: StoredObject | JsonObject): Uint8Array {
    const { transform, encoding } = this.#accepted
    const asStored = !transform && encoding === 'json' && this.#asStored
    if (asStored && object instanceof StoredObject) return object.served()
    return this.#encode(this.#transformed(this.#value(object)))
  }

  /** A list item: built-in ones have no kind and apiVersion. */
  #item(value: JsonObject): JsonObject {
    const { strategy, typesListItems } = this.#endpoint.resource
    if (this.#accepted.transform && strategy.fieldAnnotations) {
      return withoutAnnotations(this.#transformed(value), strategy.fieldAnnotations)
    }
    if (this.#accepted.transform || typesListItems) return this.#transformed(value)
    const { kind: _kind, apiVersion: _apiVersion, ...item } = value
    return item
  }

  #value(object: StoredObject | JsonObject): JsonObject {
    return convertForServing(this.#endpoint, object instanceof StoredObject ? object.parse() : object)
  }

  #transformed(value: JsonObject): JsonObject {
    const { transform } = this.#accepted
    if (!transform) return value
    if (transform.as !== 'Table') return partialMetadata(value, transform.version)
    const { resourceVersion = '' } = value.metadata as { resourceVersion?: string }
    return this.#table([this.#row(value, transform)], { resourceVersion }, { transform, columns: true })
  }

  /** As {@link #transformed}, but only the first Table of a stream has columns. */
  #streamed(value: JsonObject): JsonObject {
    const { transform } = this.#accepted
    if (transform?.as !== 'Table') return this.#transformed(value)
    const { resourceVersion = '' } = value.metadata as { resourceVersion?: string }
    const columns = this.#takeColumns()
    return this.#table([this.#row(value, transform)], { resourceVersion }, { transform, columns })
  }

  #takeColumns(): boolean {
    const due = this.#columnsDue
    this.#columnsDue = false
    return due
  }

  #row(value: JsonObject, { version }: Transform): JsonObject {
    return {
      cells: this.#printer!.cells(value, this.#turns.clock.now()),
      object: rowObject(value, this.#include, version),
    }
  }

  #table(
    rows: readonly JsonObject[],
    metadata: Partial<ListMetadata>,
    form: { readonly transform: Transform; readonly columns: boolean },
  ): JsonObject {
    return {
      kind: 'Table',
      apiVersion: `meta.k8s.io/${form.transform.version}`,
      metadata,
      columnDefinitions: form.columns ? columnDefinitions(this.#printer!.columns) : null,
      rows,
    }
  }
}

const typedItems: ItemWriter<StoredObject> = {
  size: object => object.servedRoom,
  write: (object, target, at) => object.write(target, at),
}
const untypedItems: ItemWriter<StoredObject> = {
  size: object => object.servedRoom,
  write: (object, target, at) => object.writeUntyped(target, at),
}
const streamTypes: readonly string[] = [mediaTypes.json, mediaTypes.protobuf].map(
  type => `${type};stream=watch`,
)

/** Upstream's message for kinds without a protobuf form. */
function withoutProtobuf(kind: unknown): StatusError {
  const { status } = newNotAcceptable([])
  const message = `object *v1.${String(kind)} does not implement the protobuf marshalling interface and cannot be encoded to a protobuf message`
  return new StatusError({ ...status, message })
}

/** Upstream rejects built-in kinds in the router and custom ones in their handler: the messages differ. */
function notAcceptable({ resource }: Endpoint): StatusError {
  const types = Object.values(mediaTypes)
  const message = `406: Not Acceptable\n\nAvailable representations: ${types.join(', ')}`
  return resource.mediaTypeError(newNotAcceptable(types), message)
}

function withoutAnnotations(object: JsonObject, unwanted: readonly string[]): JsonObject {
  const { annotations, ...metadata } = object.metadata as JsonObject & { annotations?: JsonObject }
  const kept = Object.entries(annotations ?? {}).filter(([name]) => !unwanted.includes(name))
  if (kept.length === 0) return { ...object, metadata }
  return { ...object, metadata: { ...metadata, annotations: Object.fromEntries(kept) } }
}
