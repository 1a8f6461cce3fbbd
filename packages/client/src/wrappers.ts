import type { Kind } from '@coxswain/apimachinery/kinds'
import { ClientError } from './errors.ts'
import type { RestRequest } from './rest-request.ts'
import { type WrappableClient, wrapClient } from './wrap-client.ts'

/** Every write is checked and answered, and nothing is stored. */
export function dryRun<C extends WrappableClient>(client: C): C {
  return wrapClient(client, {
    write: options => ({ ...options!, dryRun: true }),
    request: withQuery({ dryRun: 'All' }),
  })
}

/** Writes that name no field manager are `owner`'s in managedFields. */
export function withFieldOwner<C extends WrappableClient>(client: C, owner: string): C {
  return wrapClient(client, { write: options => ({ fieldManager: owner, ...options! }) })
}

/** Writes with unknown or duplicate fields are rejected (400), unless a call says otherwise. */
export function withStrictValidation<C extends WrappableClient>(client: C): C {
  return wrapClient(client, { write: options => ({ fieldValidation: 'Strict', ...options! }) })
}

/**
 * Namespaced objects without a namespace are in `namespace`, lists and watches are of it; cluster-scoped kinds are not
 * affected. Paths of `raw` are sent as they are.
 * @throws ClientError `BadKey` when a call names another namespace
 */
export function namespaced<C extends WrappableClient>(client: C, namespace: string): C {
  const place = <T extends { readonly namespace?: string | undefined }>(kind: Kind, given: T): T => {
    if (!kind.namespaced || given.namespace === namespace) return given
    if (given.namespace)
      throw new ClientError(
        'BadKey',
        `namespace ${given.namespace} of the ${kind.kind} does not match the namespace ${namespace} on the client`,
      )
    return { ...given, namespace }
  }
  return wrapClient(client, {
    key: place,
    scope: (kind, options) => place(kind, { ...options! }),
    object: (kind, object) => {
      const { metadata } = object as { metadata?: { namespace?: string } }
      const placed = place(kind, metadata ?? {})
      return placed === metadata ? object : { ...object, metadata: placed }
    },
  })
}

/** Nothing can be written: every write, and every connection into a Pod, is refused before it is sent. */
export function readOnly<C extends WrappableClient>(client: C): C {
  const refuse = (): never => {
    throw new ClientError('ReadOnly', 'this client only reads')
  }
  return wrapClient(client, {
    write: refuse,
    request: request => (isRead(request) ? request : refuse()),
    upgrade: refuse,
  })
}

function withQuery(query: RestRequest['query']): (request: RestRequest) => RestRequest {
  return request => (isRead(request) ? request : { ...request, query: { ...request.query, ...query } })
}

function isRead({ method = 'GET' }: RestRequest): boolean {
  return method === 'GET' || method === 'HEAD' || method === 'OPTIONS'
}
