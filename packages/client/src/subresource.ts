import type { Kind } from '@coxswain/apimachinery/kinds'
import type { ObjectKey } from '@coxswain/apimachinery/meta'
import { isStream } from '@coxswain/wire'
import type { QueryOptions, StreamOptions, Subresource } from './client.ts'
import type { CallOptions, GetOptions } from './options.ts'
import { resourcePath } from './path.ts'
import { writeQuery } from './query.ts'
import type { RestClient } from './rest-client.ts'
import type { RestRequest } from './rest-request.ts'
import { unlessMissing } from './unless-missing.ts'

export interface SubresourceAddress {
  readonly kind: Kind
  readonly key: ObjectKey
  readonly name: string
  readonly fieldManager: string | undefined
}

export function createSubresource(rest: RestClient, address: SubresourceAddress): Subresource {
  const { kind, key, name, fieldManager } = address
  const about = (call: CallOptions): RestRequest => ({
    path: resourcePath(kind, { ...key, subresource: name }),
    resource: { group: kind.group, resource: kind.resource },
    name: key.name,
    ...(call.signal && { signal: call.signal }),
    ...(call.timeout !== undefined && { timeout: call.timeout }),
    ...(call.span && { span: call.span }),
  })
  const write = async <T>(method: 'POST' | 'PUT', body: object, call: CallOptions): Promise<T> =>
    (await rest.request({ ...about(call), method, query: writeQuery(call, fieldManager), body })) as T

  async function* stream(call: StreamOptions = {}): AsyncGenerator<Uint8Array, void, undefined> {
    const { body } = await rest.stream({ ...about(call), accept: '*/*', query: call.query ?? {} })
    if (isStream(body)) yield* body
    else if (body instanceof Uint8Array) yield body
    else if (body) yield* body
  }

  return {
    async get<T>(call: GetOptions & QueryOptions = {}) {
      const { resourceVersion, query } = call
      return unlessMissing(
        rest.request({ ...about(call), query: { ...query, resourceVersion } }) as Promise<T>,
      )
    },
    create: async (body, call = {}) => write('POST', body, call),
    update: async (body, call = {}) => write('PUT', body, call),
    stream,
  }
}
