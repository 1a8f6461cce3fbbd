import type { Env } from '@coxswain/kit'
import type { Cluster } from './cluster.ts'
import { encodeLeaseGrant, encodeLeaseRevoke } from './etcd-messages.ts'

interface Lease {
  readonly id: number
  /** On the monotonic clock: until then new keys may share it. */
  readonly usableUntil: number
  keys: number
}

/** Long-lived keys share leases: they may live longer by so many seconds, or by this fraction of their time to live. */
const longestStretch = 60
const stretchShare = 0.05
const keysPerLease = 1000

/** Times to live as etcd leases, in whole seconds. */
export class Leases {
  readonly #cluster: Cluster
  readonly #env: Env
  readonly #shared = new Map<number, Lease>()

  constructor(cluster: Cluster, env: Env) {
    this.#cluster = cluster
    this.#env = env
  }

  /** A lease for a key with a time to live of `ttl` milliseconds. `own` means that no other key uses it. */
  async grant(ttl: number): Promise<{ readonly id: number; readonly own: boolean }> {
    const seconds = Math.ceil(ttl / 1000)
    const stretch = Math.min(longestStretch, Math.floor(seconds * stretchShare))
    if (stretch === 0) return { id: await this.#grant(seconds), own: true }
    const now = this.#env.clock.monotonic()
    const shared = this.#shared.get(seconds)
    if (shared && shared.usableUntil > now && shared.keys < keysPerLease) {
      shared.keys++
      return { id: shared.id, own: false }
    }
    const id = await this.#grant(seconds + stretch)
    this.#shared.set(seconds, { id, usableUntil: now + stretch * 1000, keys: 1 })
    return { id, own: false }
  }

  async revoke(id: number): Promise<void> {
    await this.#cluster.call({
      method: 'Lease/LeaseRevoke',
      request: encodeLeaseRevoke(id),
      repeatable: true,
    })
  }

  /** Ids are chosen here, so that they fit a number, and so that a retried request finds its own lease. */
  async #grant(seconds: number): Promise<number> {
    const id = this.#env.random.below(2 ** 31) * 2 ** 21 + this.#env.random.below(2 ** 21) + 1
    const request = encodeLeaseGrant(id, seconds)
    try {
      await this.#cluster.call({ method: 'Lease/LeaseGrant', request, repeatable: true })
    } catch (error) {
      if (!/lease already exists/.test(String(error))) throw error
    }
    return id
  }
}
