import type { CallOptions, Client, RestClient, RestRequest } from '@coxswain/client'
import type { WriteGuard } from '../operator-client.ts'

export interface Bounds {
  /** Ends every call. */
  readonly signal: AbortSignal
  /** @default every write may be sent */
  readonly guard?: WriteGuard
}

/** How the calls of a reconcile are limited. */
export interface BoundOptions {
  read<O extends { readonly signal?: AbortSignal }>(
    given: O | undefined,
  ): O & { readonly signal: AbortSignal }
  /** @throws RuntimeError `NotLeader`, or the signal's reason */
  write<O extends CallOptions>(given: O | undefined): O & { readonly signal: AbortSignal }
}

export function createBoundOptions({ signal, guard }: Bounds): BoundOptions {
  const read: BoundOptions['read'] = <O extends { readonly signal?: AbortSignal }>(given: O | undefined) => {
    const both = given?.signal ? AbortSignal.any([given.signal, signal]) : signal
    return { ...(given as O), signal: both }
  }
  return {
    read,
    write(given) {
      signal.throwIfAborted()
      const limit = guard?.admit()
      const merged = read(given)
      return limit === undefined ? merged : { ...merged, timeout: Math.min(given?.timeout ?? limit, limit) }
    },
  }
}

/** The same client, whose calls end with the reconcile, and whose writes are held back when this replica does not lead. */
export function bindClient(client: Client, bounds: Bounds): Client {
  const { read, write } = createBoundOptions(bounds)
  const request = (given: RestRequest): RestRequest =>
    (given.method ?? 'GET') === 'GET' ? read(given) : write(given)
  const raw: RestClient = {
    request: async given => client.raw.request(request(given)),
    bytes: async given => client.raw.bytes(request(given)),
    stream: async given => client.raw.stream(request(given)),
    send: async given => client.raw.send(request(given)),
    upgrade: async (given, protocols) => client.raw.upgrade(write(given), protocols),
  }
  return {
    get: (kind, key, options) => client.get(kind, key, read(options)),
    list: (kind, options) => client.list(kind, read(options)),
    listAll: (kind, options) => client.listAll(kind, read(options)),
    watch: (kind, options) => client.watch(kind, read(options)),
    create: async (kind, object, options) => client.create(kind, object, write(options)),
    update: async (kind, object, options) => client.update(kind, object, write(options)),
    updateStatus: async (kind, object, options) => client.updateStatus(kind, object, write(options)),
    patch: async (kind, key, patch, options) => client.patch(kind, key, patch, write(options)),
    apply: async (kind, object, options) => client.apply(kind, object, write(options)),
    applyStatus: async (kind, object, options) => client.applyStatus(kind, object, write(options)),
    delete: async (kind, key, options) => client.delete(kind, key, write(options)),
    deleteAll: async (kind, options) => client.deleteAll(kind, write(options)),
    subresource: (kind, key, name) => {
      const target = client.subresource(kind, key, name)
      return {
        get: options => target.get(read(options)),
        create: async (body, options) => target.create(body, write(options)),
        update: async (body, options) => target.update(body, write(options)),
        stream: options => target.stream(read(options)),
      }
    },
    raw,
  }
}
