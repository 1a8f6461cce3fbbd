import type { Env } from '@coxswain/kit'
import type { Transport } from '@coxswain/wire'
import type { Outbound, Target } from './outbound.ts'

/** The maximum number of open connections. */
const poolSize = 64
/** How long an idle connection is kept, in milliseconds. */
const idleTime = 5 * 60_000

interface Entry {
  readonly transport: Transport
  /** Calls in flight. */
  calls: number
  lastUsed: number
  /** To be disposed of after its last call. */
  dropped: boolean
}

/** A transport for one call. */
export interface Lease {
  readonly transport: Transport
  /** To be called once, when the call is over. */
  release(): void
}

/**
 * Transports to other servers, a bounded number of them. A target whose certificate or credentials change is a new target: its
 * old connection is closed when it has been idle or when the pool is full.
 */
export class TransportPool implements AsyncDisposable {
  readonly #env: Env
  readonly #outbound: Outbound
  /** The least recently used first. */
  readonly #entries = new Map<string, Entry>()
  readonly #closing = new Set<Promise<void>>()
  /** The keys of targets that are used more than once: bundles of certificates are long. */
  readonly #keys = new WeakMap<Target, string>()

  constructor(env: Env, outbound: Outbound) {
    this.#env = env
    this.#outbound = outbound
  }

  take(target: Target): Lease {
    const key = this.#keyOf(target)
    let entry = this.#entries.get(key)
    if (entry) this.#entries.delete(key)
    else {
      this.#evictIdle()
      entry = { transport: this.#outbound.connect(target), calls: 0, lastUsed: 0, dropped: false }
    }
    this.#entries.set(key, entry)
    entry.calls++
    const taken = entry
    return { transport: taken.transport, release: () => this.#release(taken) }
  }

  /** Aborts the calls in flight. */
  async [Symbol.asyncDispose](): Promise<void> {
    for (const [key, entry] of this.#entries) {
      this.#entries.delete(key)
      this.#close(entry)
    }
    await Promise.all(this.#closing)
  }

  #keyOf(target: Target): string {
    let key = this.#keys.get(target)
    if (key === undefined) {
      const { origin, ca, serverName, cert, key: privateKey, insecure } = target
      key = JSON.stringify([origin, serverName, ca, cert, privateKey, insecure])
      this.#keys.set(target, key)
    }
    return key
  }

  #release(entry: Entry): void {
    entry.calls--
    entry.lastUsed = this.#env.clock.monotonic()
    if (entry.dropped && entry.calls === 0) this.#close(entry)
  }

  #evictIdle(): void {
    const oldest = this.#env.clock.monotonic() - idleTime
    for (const [key, entry] of this.#entries) {
      const isIdle = entry.calls === 0 && entry.lastUsed < oldest
      if (!isIdle && this.#entries.size < poolSize) continue
      this.#entries.delete(key)
      entry.dropped = true
      if (entry.calls === 0) this.#close(entry)
    }
  }

  #close({ transport }: Entry): void {
    const closing = dispose(transport).then(() => void this.#closing.delete(closing))
    this.#closing.add(closing)
  }
}

async function dispose(transport: Transport): Promise<void> {
  try {
    await transport[Symbol.asyncDispose]()
  } catch {
    // It is closed either way.
  }
}
