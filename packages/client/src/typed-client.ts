import type { Kind, KindOf } from '@coxswain/apimachinery/kinds'
import type { ApiList, ApiObject, ObjectKey } from '@coxswain/apimachinery/meta'
import { isStatus } from '@coxswain/apimachinery/wire-format'
import { markReported } from '@coxswain/kit'
import { isStream, isTransportError } from '@coxswain/wire'
import type { Client, DeleteResult, Subresource } from './client.ts'
import { dropNulls } from './drop-nulls.ts'
import { ClientError } from './errors.ts'
import { decodeJson } from './json.ts'
import { isMetadataKind } from './kind-for.ts'
import type {
  ApplyOptions,
  CallOptions,
  DeleteOptions,
  ListOptions,
  WatchEvent,
  WatchOptions,
} from './options.ts'
import { patchMethods } from './patch-from.ts'
import type { PathParts } from './path.ts'
import { resourcePath } from './path.ts'
import { collectionQuery, deleteBody, listQuery, patchContentTypes, watchQuery, writeQuery } from './query.ts'
import type { RestClient } from './rest-client.ts'
import type { RestRequest } from './rest-request.ts'
import { createSubresource } from './subresource.ts'
import { unlessMissing } from './unless-missing.ts'
import { decodeWatchEvent, LineSplitter } from './watch-decoder.ts'

export interface TypedClientOptions {
  readonly fieldManager: string | undefined
  readonly maxEventBytes: number
}

/** How many objects a page of `listAll` has. */
const pageSize = 500

export function createTypedClient(rest: RestClient, options: TypedClientOptions): Client {
  const { fieldManager, maxEventBytes } = options

  /** The parts of a request that follow from the kind and the call's options. */
  const about = (kind: Kind, parts: PathParts, call: CallOptions = {}): RestRequest => ({
    path: resourcePath(kind, parts),
    resource: { group: kind.group, resource: kind.resource },
    accept: acceptOf(kind, parts.name === undefined),
    ...(parts.name !== undefined && { name: parts.name }),
    ...(call.signal && { signal: call.signal }),
    ...(call.timeout !== undefined && { timeout: call.timeout }),
    ...(call.span && { span: call.span }),
  })

  /** The answer; undefined when it is empty. In objects of a kind null is absence. */
  const answerOf = async (kind: Kind, request: RestRequest): Promise<unknown> => {
    const bytes = await rest.bytes(request)
    return bytes.length === 0 ? undefined : decodeJson(bytes, { onNulls: value => dropNullsIn(kind, value) })
  }

  const send = async <K extends Kind>(kind: K, request: RestRequest): Promise<KindOf<K>> =>
    (await answerOf(kind, request)) as KindOf<K>

  const list = async <K extends Kind>(kind: K, call: ListOptions = {}): Promise<ApiList<KindOf<K>>> => {
    const request = about(kind, { namespace: call.namespace }, call)
    const answer = (await answerOf(kind, { ...request, query: listQuery(call) })) as ApiList<KindOf<K>>
    return completeList(kind, answer)
  }

  async function* listAll<K extends Kind>(
    kind: K,
    call: ListOptions = {},
  ): AsyncGenerator<KindOf<K>, void, undefined> {
    const { resourceVersion: _, resourceVersionMatch: __, ...rest } = call
    const limit = call.limit ?? pageSize
    let page = await list(kind, { ...call, limit })
    for (;;) {
      yield* page.items
      const next = page.metadata.continue
      if (!next) return
      page = await list(kind, { ...rest, limit, continue: next })
    }
  }

  async function* watch<K extends Kind>(
    kind: K,
    call: WatchOptions = {},
  ): AsyncGenerator<WatchEvent<KindOf<K>>, void, undefined> {
    const { signal, span, omitManagedFields = false } = call
    if (signal?.aborted) return
    try {
      const request = about(
        kind,
        { namespace: call.namespace },
        { ...(signal && { signal }), ...(span && { span }) },
      )
      // The events of a watch are objects: asked for as a list, a server sends none.
      const accept = acceptOf(kind, false)
      const { body } = await rest.stream({ ...request, accept, query: watchQuery(call) })
      if (!body) return
      const lines = new LineSplitter(maxEventBytes)
      for await (const chunk of isStream(body) ? body : chunksOf(body)) {
        for (const line of lines.push(chunk))
          yield decodeWatchEvent<KindOf<K>>(line, kind.schema, omitManagedFields)
      }
      lines.end()
    } catch (error) {
      if (signal?.aborted) return
      // Connections end, and long answers with them: whether the server is away shows when it is asked again.
      if (isTransportError(error)) markReported(error)
      throw error
    }
  }

  /** A write of a whole object: its name and namespace are the path's. */
  const write = <K extends Kind>(
    method: 'POST' | 'PUT' | 'PATCH',
    kind: K,
    object: unknown,
    call: ApplyOptions = {},
    subresource?: string,
  ): Promise<KindOf<K>> => {
    const body = withType(kind, object)
    const { name, namespace } = body.metadata
    if (method !== 'POST' && !name) throw new ClientError('BadKey', `the ${kind.kind} has no metadata.name`)
    const applying = method === 'PATCH'
    if (applying && !(call.fieldManager ?? fieldManager)) {
      throw new ClientError('BadOptions', 'apply needs a fieldManager')
    }
    if (method === 'POST' && kind.namespaced && !namespace) {
      throw new ClientError('BadKey', `the ${kind.kind} has no metadata.namespace`)
    }
    return send(kind, {
      ...about(kind, { namespace, name: method === 'POST' ? undefined : name, subresource }, call),
      method,
      query: { ...writeQuery(call, fieldManager), ...(applying && { force: call.force === true }) },
      body,
      ...(applying && { contentType: 'application/apply-patch+yaml' }),
    })
  }

  const client: Client = {
    async get(kind, key, call = {}) {
      const request = about(kind, key, call)
      const query = { resourceVersion: call.resourceVersion }
      return unlessMissing(send(kind, { ...request, query }))
    },
    list,
    listAll,
    watch,
    create: async (kind, object, call) => write('POST', kind, object, call),
    update: async (kind, object, call) => write('PUT', kind, object, call),
    updateStatus: async (kind, object, call) => write('PUT', kind, object, call, 'status'),
    apply: async (kind, object, call) => write('PATCH', kind, object, call),
    applyStatus: async (kind, object, call) => write('PATCH', kind, object, call, 'status'),
    async patch(kind, key, patch, call = {}) {
      return send(kind, {
        ...about(kind, { ...key, subresource: call.subresource }, call),
        method: 'PATCH',
        query: writeQuery(call, fieldManager),
        body: patch,
        contentType: patchContentTypes[call.type ?? 'merge'],
      })
    },
    ...patchMethods(() => client),
    async delete<K extends Kind>(kind: K, key: ObjectKey, call: DeleteOptions = {}) {
      const answer = await unlessMissing(
        answerOf(kind, { ...about(kind, key, call), method: 'DELETE', ...bodyOf(deleteBody(call)) }),
      )
      return answer === undefined ? undefined : deleteResult<KindOf<K>>(answer)
    },
    async deleteAll(kind, call = {}) {
      await rest.request({
        ...about(kind, { namespace: call.namespace }, call),
        method: 'DELETE',
        query: collectionQuery(call),
        ...bodyOf(deleteBody(call)),
      })
    },
    subresource(kind, key, name): Subresource {
      return createSubresource(rest, { kind, key, name, fieldManager })
    },
    raw: rest,
  }
  return client
}

function acceptOf(kind: Kind, collection: boolean): string {
  if (!isMetadataKind(kind)) return 'application/json'
  return `application/json;as=PartialObjectMetadata${collection ? 'List' : ''};g=meta.k8s.io;v=v1`
}

/** `value` is an object of the kind, or a list of them. */
function dropNullsIn({ schema }: Kind, value: unknown): void {
  const items = (value as { items?: unknown } | null)?.items
  if (Array.isArray(items)) for (const item of items) dropNulls(item, schema())
  else dropNulls(value, schema())
}

/** Servers leave out apiVersion and kind of typed lists' items. */
function completeList<T>(kind: Kind, list: ApiList<T>): ApiList<T> {
  list.items ??= []
  const partial = isMetadataKind(kind)
  const apiVersion = partial ? 'meta.k8s.io/v1' : apiVersionOf(kind)
  const name = partial ? 'PartialObjectMetadata' : kind.kind
  for (const item of list.items as (ApiObject | null)[]) {
    if (item === null) continue
    item.apiVersion ??= apiVersion
    item.kind ??= name
  }
  return list
}

function apiVersionOf(kind: Kind): string {
  return kind.group === '' ? kind.version : `${kind.group}/${kind.version}`
}

interface Writable {
  readonly metadata: { readonly name?: string; readonly namespace?: string }
}

function withType(kind: Kind, object: unknown): Writable {
  if (typeof object !== 'object' || object === null) {
    throw new ClientError('BadOptions', `a ${kind.kind} must be an object`)
  }
  const { metadata = {}, ...rest } = object as Partial<Writable>
  return { apiVersion: apiVersionOf(kind), kind: kind.kind, metadata, ...rest } as Writable
}

function bodyOf(body: object | undefined): { body?: object } {
  return body ? { body } : {}
}

function deleteResult<T>(answer: unknown): DeleteResult<T> {
  if (isStatus(answer)) return answer.details?.uid ? { uid: answer.details.uid } : {}
  const object = answer as ApiObject
  return { object: object as T, ...(object.metadata?.uid && { uid: object.metadata.uid }) }
}

async function* chunksOf(
  body: Uint8Array | readonly Uint8Array[],
): AsyncGenerator<Uint8Array, void, undefined> {
  if (body instanceof Uint8Array) yield body
  else yield* body
}
