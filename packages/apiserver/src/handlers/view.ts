import { newNotAcceptable, writeJsonBytes } from '@coxswain/apimachinery'
import { getHeader, type WireBody, type WireResponse } from '@coxswain/wire'
import { StoredObject } from '../cache/stored-object.ts'
import { encodeText, type JsonObject, joinBytes } from '../json.ts'
import { convertForServing, isServedAsStored } from '../registry/convert.ts'
import type { Endpoint } from '../registry/registry.ts'
import { apiVersionOf } from '../registry/served-resource.ts'
import { type Accepted, type Encoding, negotiate } from '../request/accept.ts'
import type { RequestContext } from '../request/context.ts'
import { jsonBytesResponse } from '../response.ts'
import {
  columnDefinitions,
  createTablePrinter,
  type IncludeObject,
  parseIncludeObject,
  partialMetadata,
  rowObject,
  type TablePrinter,
} from './table.ts'
import type { EventEncoder, WatchEventType } from './watch-stream.ts'

const mediaTypes = ['application/json', 'application/yaml', 'application/vnd.kubernetes.protobuf']

const speaksJson = (encoding: Encoding) => encoding === 'json'

/** What the client accepts. Throws a 406 when that is nothing we have. */
export function acceptedBy(context: RequestContext): Accepted {
  const accepted = negotiate(getHeader(context.request.headers, 'accept'), speaksJson)
  if (!accepted) throw newNotAcceptable(mediaTypes)
  return accepted
}

export interface ListMetadata {
  readonly resourceVersion: string
  readonly continue?: string
  readonly remainingItemCount?: number
}

/**
 * How the objects of an endpoint look to one client: as they are, as a Table or as metadata alone. Bytes go out as they
 * were stored wherever nothing has to look inside.
 */
export class View implements EventEncoder {
  readonly #endpoint: Endpoint
  readonly #accepted: Accepted
  readonly #now: () => number
  readonly #include: IncludeObject
  readonly #printer: TablePrinter | undefined
  /** Whether a Table stream still owes its column definitions. */
  #columnsDue = true

  constructor(context: RequestContext, endpoint: Endpoint) {
    this.#endpoint = endpoint
    this.#accepted = acceptedBy(context)
    this.#now = context.state.env.clock.now
    const table = this.#accepted.transform?.as === 'Table'
    this.#include = table ? parseIncludeObject(context.query.get('includeObject')) : 'Metadata'
    this.#printer = table ? createTablePrinter(endpoint) : undefined
  }

  object(status: number, object: StoredObject | JsonObject): WireResponse {
    return jsonBytesResponse(status, this.#encode(object))
  }

  list(objects: readonly StoredObject[], metadata: ListMetadata): WireResponse {
    const transform = this.#accepted.transform
    const { info } = this.#endpoint.resource
    if (transform?.as === 'Table') {
      const rows = objects.map(object => this.#row(this.#value(object)))
      return jsonBytesResponse(200, writeJsonBytes(this.#table(rows, metadata, true)))
    }
    const kind = transform ? 'PartialObjectMetadataList' : info.listKind
    const apiVersion = transform
      ? `meta.k8s.io/${transform.version}`
      : apiVersionOf(info.group, this.#endpoint.version.name)
    const head = JSON.stringify({ kind, apiVersion, metadata }).slice(0, -1)
    return jsonBytesResponse(
      200,
      joinList(
        `${head},"items":[`,
        objects.map(object => this.#pieces(object)),
        ']}',
      ),
    )
  }

  event(type: WatchEventType, object: StoredObject): Uint8Array {
    if (this.#accepted.transform?.as === 'Table') {
      const metadata = { resourceVersion: String(object.revision) }
      const table = this.#table([this.#row(this.#value(object))], metadata, this.#columnsDue)
      this.#columnsDue = false
      return eventBytes(type, [writeJsonBytes(table)])
    }
    return eventBytes(type, this.#pieces(object))
  }

  bookmark(revision: number, initialEnd: boolean): Uint8Array {
    const { resource, version } = this.#endpoint
    const object: JsonObject = {
      kind: resource.info.kind,
      apiVersion: apiVersionOf(resource.info.group, version.name),
      metadata: {
        resourceVersion: String(revision),
        ...(!resource.custom && { creationTimestamp: null }),
        ...(initialEnd && { annotations: { 'k8s.io/initial-events-end': 'true' } }),
      },
    }
    if (this.#accepted.transform?.as === 'Table') {
      const cells = this.#printer!.columns.map(() => '')
      const row = { cells, object: partialMetadata(object, this.#accepted.transform.version) }
      const table = this.#table([row], { resourceVersion: String(revision) }, this.#columnsDue)
      this.#columnsDue = false
      return eventBytes('BOOKMARK', [writeJsonBytes(table)])
    }
    return eventBytes('BOOKMARK', [this.#encode(object)])
  }

  #encode(object: StoredObject | JsonObject): Uint8Array {
    if (this.#accepted.transform?.as === 'Table') {
      const value = this.#value(object)
      const metadata = value.metadata as { resourceVersion?: string }
      const table = this.#table([this.#row(value)], { resourceVersion: metadata.resourceVersion ?? '' }, true)
      return writeJsonBytes(table)
    }
    return joinBytes(this.#pieces(object))
  }

  #pieces(object: StoredObject | JsonObject): readonly Uint8Array[] {
    const transform = this.#accepted.transform
    if (!transform && object instanceof StoredObject && isServedAsStored(this.#endpoint))
      return object.pieces()
    const value = this.#value(object)
    return [writeJsonBytes(transform ? partialMetadata(value, transform.version) : value)]
  }

  #value(object: StoredObject | JsonObject): JsonObject {
    return convertForServing(this.#endpoint, object instanceof StoredObject ? object.parse() : object)
  }

  #row(value: JsonObject): JsonObject {
    const version = this.#accepted.transform!.version
    return {
      cells: this.#printer!.cells(value, this.#now()),
      object: rowObject(value, this.#include, version),
    }
  }

  #table(rows: readonly JsonObject[], metadata: ListMetadata, columns: boolean): JsonObject {
    return {
      kind: 'Table',
      apiVersion: `meta.k8s.io/${this.#accepted.transform!.version}`,
      metadata,
      columnDefinitions: columns ? columnDefinitions(this.#printer!.columns) : null,
      rows,
    }
  }
}

const newline = encodeText('}\n')
const eventHeads: Readonly<Record<string, Uint8Array>> = Object.fromEntries(
  ['ADDED', 'MODIFIED', 'DELETED', 'BOOKMARK', 'ERROR'].map(type => [
    type,
    encodeText(`{"type":"${type}","object":`),
  ]),
)

/** One line of a watch stream. */
export function eventBytes(type: string, object: readonly Uint8Array[]): Uint8Array {
  return joinBytes([eventHeads[type]!, ...object, newline])
}

const comma = encodeText(',')

function joinList(head: string, items: readonly (readonly Uint8Array[])[], tail: string): WireBody {
  const pieces: Uint8Array[] = [encodeText(head)]
  items.forEach((item, i) => {
    if (i > 0) pieces.push(comma)
    pieces.push(...item)
  })
  pieces.push(encodeText(tail))
  return joinBytes(pieces)
}
