import { type CallOptions, type Client, wrapClient } from '@coxswain/client'
import type { Span } from '@coxswain/kit'
import type { WriteGuard } from '../operator-client.ts'

export interface Bounds {
  /** Aborts every call. */
  readonly signal: AbortSignal
  /** @default every write may be sent */
  readonly guard?: WriteGuard
  /** What calls are a part of, where traces are made. */
  readonly span?: Span
}

type Signalled = { readonly signal: AbortSignal }

/** How the calls of a reconcile are limited. */
export class BoundOptions {
  readonly #bounds: Bounds

  constructor(bounds: Bounds) {
    this.#bounds = bounds
  }

  read<O extends Partial<Signalled>>(given: O | undefined): O & Signalled {
    const { signal, span } = this.#bounds
    const both = given?.signal ? AbortSignal.any([given.signal, signal]) : signal
    return span ? { span, ...(given as O), signal: both } : { ...(given as O), signal: both }
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

/** The same client, with calls that end with the reconcile, and writes that are blocked when this replica does not lead. */
export function bindClient(client: Client, bounds: BoundOptions): Client {
  return wrapClient(client, {
    read: options => bounds.read(options),
    write: options => bounds.write(options),
    request: given => ((given.method ?? 'GET') === 'GET' ? bounds.read(given) : bounds.write(given)),
    upgrade: given => bounds.write(given),
  })
}
