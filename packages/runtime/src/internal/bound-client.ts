import type { CallOptions, Client, RestClient, RestRequest } from '@coxswain/client'
import type { WriteGuard } from '../operator-client.ts'

export interface Bounds {
  /** Ends every call. */
  readonly signal: AbortSignal
  /** @default every write may be sent */
  readonly guard?: WriteGuard
}

type Signalled = { readonly signal: AbortSignal }

/** How the calls of a reconcile are limited. */
export class BoundOptions {
  readonly #bounds: Bounds

  constructor(bounds: Bounds) {
    this.#bounds = bounds
  }

  read<O extends Partial<Signalled>>(given: O | undefined): O & Signalled {
    const { signal } = this.#bounds
    const both = given?.signal ? AbortSignal.any([given.signal, signal]) : signal
    return { ...(given as O), signal: both }
  }

  /** @throws RuntimeError `NotLeader`, or the signal's reason */
  write<O extends CallOptions>(given: O | undefined): O & Signalled {
    const { signal, guard } = this.#bounds
    signal.throwIfAborted()
    const limit = guard?.admit()
    const merged = this.read(given)
    return limit === undefined ? merged : { ...merged, timeout: Math.min(given?.timeout ?? limit, limit) }
  }
}

/** The same client, whose calls end with the reconcile, and whose writes are held back when this replica does not lead. */
export function bindClient(client: Client, bounds: BoundOptions): Client {
  const request = (given: RestRequest): RestRequest =>
    (given.method ?? 'GET') === 'GET' ? bounds.read(given) : bounds.write(given)
  const raw: RestClient = {
    request: async given => client.raw.request(request(given)),
    bytes: async given => client.raw.bytes(request(given)),
    stream: async given => client.raw.stream(request(given)),
    send: async given => client.raw.send(request(given)),
    upgrade: async (given, protocols) => client.raw.upgrade(bounds.write(given), protocols),
  }
  return {
    get: (kind, key, options) => client.get(kind, key, bounds.read(options)),
    list: (kind, options) => client.list(kind, bounds.read(options)),
    listAll: (kind, options) => client.listAll(kind, bounds.read(options)),
    watch: (kind, options) => client.watch(kind, bounds.read(options)),
    create: async (kind, object, options) => client.create(kind, object, bounds.write(options)),
    update: async (kind, object, options) => client.update(kind, object, bounds.write(options)),
    updateStatus: async (kind, object, options) => client.updateStatus(kind, object, bounds.write(options)),
    patch: async (kind, key, patch, options) => client.patch(kind, key, patch, bounds.write(options)),
    apply: async (kind, object, options) => client.apply(kind, object, bounds.write(options)),
    applyStatus: async (kind, object, options) => client.applyStatus(kind, object, bounds.write(options)),
    delete: async (kind, key, options) => client.delete(kind, key, bounds.write(options)),
    deleteAll: async (kind, options) => client.deleteAll(kind, bounds.write(options)),
    subresource: (kind, key, name) => {
      const target = client.subresource(kind, key, name)
      return {
        get: options => target.get(bounds.read(options)),
        create: async (body, options) => target.create(body, bounds.write(options)),
        update: async (body, options) => target.update(body, bounds.write(options)),
        stream: options => target.stream(bounds.read(options)),
      }
    },
    raw,
  }
}
