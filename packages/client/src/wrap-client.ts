import type { Kind } from '@coxswain/apimachinery/kinds'
import type { ObjectKey } from '@coxswain/apimachinery/meta'
import type { Client, Subresource } from './client.ts'
import type { CallOptions, DeleteOptions, SelectorOptions, WriteOptions } from './options.ts'
import { patchMethods } from './patch-from.ts'
import type { RestClient } from './rest-client.ts'
import type { RestRequest } from './rest-request.ts'

/** What happens to the calls of a client on their way. What throws rejects the call before anything is sent. */
export interface ClientHooks {
  /** The options of a get, list or watch. */
  read?<O extends Pick<CallOptions, 'signal'>>(options: O | undefined): O | undefined
  /** The options of anything that writes; `delete` knows `dryRun` alone. */
  write?<O extends WriteOptions | DeleteOptions>(options: O | undefined): O | undefined
  /** Where a named object is. */
  key?(kind: Kind, key: ObjectKey): ObjectKey
  /** Which part of a collection is meant. */
  scope?<O extends SelectorOptions>(kind: Kind, options: O | undefined): O | undefined
  /** An object that is sent as a whole. */
  object?<T>(kind: Kind, object: T): T
  /** A request to any path. */
  request?(request: RestRequest): RestRequest
  /** A connection in both directions: exec, attach, port-forward. */
  upgrade?(request: RestRequest): RestRequest
}

/** The verbs that a `Client` and the client of a reconcile share. */
type Verbs = Omit<Client, 'listAll' | 'watch' | 'subresource' | 'raw'>

/** A client, or that of a reconcile, which has a plain one in `direct`. */
export type WrappableClient = Client | { readonly direct: Client }

/** The same client with `hooks` before each call. A client of a reconcile stays one: its `direct` is wrapped too. */
export function wrapClient<C extends WrappableClient>(client: C, hooks: ClientHooks): C {
  const verbs = wrapVerbs(client as unknown as Verbs, hooks)
  if ('direct' in client) {
    return { ...verbs, direct: wrapClient(client.direct, hooks) } as unknown as C
  }
  return { ...verbs, ...wrapRest(client, hooks) } as unknown as C
}

function wrapVerbs(client: Verbs, hooks: ClientHooks): Verbs {
  const { read = same, write = same, key = second, object = second, scope = second } = hooks
  const verbs: Verbs = {
    get: async (kind, name, options) => client.get(kind, key(kind, name), read(options)),
    list: async (kind, options) => client.list(kind, read(scope(kind, options))),
    create: async (kind, given, options) => client.create(kind, object(kind, given), write(options)),
    update: async (kind, given, options) => client.update(kind, object(kind, given), write(options)),
    updateStatus: async (kind, given, options) =>
      client.updateStatus(kind, object(kind, given), write(options)),
    async patch(kind, name, patch, options) {
      return client.patch(kind, key(kind, name), patch, write(options))
    },
    ...patchMethods(() => verbs),
    apply: async (kind, given, options) => client.apply(kind, object(kind, given), write(options)),
    applyStatus: async (kind, given, options) =>
      client.applyStatus(kind, object(kind, given), write(options)),
    delete: async (kind, name, options) => client.delete(kind, key(kind, name), write(options)),
    deleteAll: async (kind, options) => client.deleteAll(kind, write(scope(kind, options))),
  }
  return verbs
}

function wrapRest(
  client: Client,
  hooks: ClientHooks,
): Pick<Client, 'listAll' | 'watch' | 'subresource' | 'raw'> {
  const { read = same, write = same, key = second, scope = second, request = same, upgrade = same } = hooks
  const { raw } = client
  const rest: RestClient = {
    request: async given => raw.request(request(given)),
    bytes: async given => raw.bytes(request(given)),
    stream: async given => raw.stream(request(given)),
    send: async given => raw.send(request(given)),
    upgrade: async (given, protocols) => raw.upgrade(upgrade(given), protocols),
  }
  return {
    listAll: (kind, options) => client.listAll(kind, read(scope(kind, options))),
    watch: (kind, options) => client.watch(kind, read(scope(kind, options))),
    subresource(kind, name, subresource): Subresource {
      const target = client.subresource(kind, key(kind, name), subresource)
      return {
        get: options => target.get(read(options)),
        create: async (body, options) => target.create(body, write(options)),
        update: async (body, options) => target.update(body, write(options)),
        stream: options => target.stream(read(options)),
      }
    },
    raw: rest,
  }
}

function same<T>(value: T): T {
  return value
}

function second<T>(_kind: Kind, value: T): T {
  return value
}
