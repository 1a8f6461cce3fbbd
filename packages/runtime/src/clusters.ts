import type { Client } from '@coxswain/client'
import type { Env } from '@coxswain/kit'
import { Cache } from './cache.ts'
import { RuntimeError } from './errors.ts'

/** A cluster besides the operator's own. */
export interface OtherCluster {
  readonly client: Client
  /** Namespaced kinds are seen in these namespaces only. @default all */
  readonly namespaces?: readonly string[]
}

export interface ClustersOptions {
  readonly others: Readonly<Record<string, OtherCluster>>
  readonly env: Env
  readonly freeze: boolean
}

/** The clusters an operator knows by name, each with a cache of its own. */
export class Clusters {
  readonly #members = new Map<string, { readonly client: Client; readonly cache: Cache }>()

  constructor({ others, env, freeze }: ClustersOptions) {
    for (const [name, { client, namespaces }] of Object.entries(others)) {
      const clusterEnv = { ...env, log: env.log.child({ cluster: name }) }
      const cache = new Cache({ client, env: clusterEnv, freeze, ...(namespaces && { namespaces }) })
      this.#members.set(name, { client, cache })
    }
  }

  /** @throws RuntimeError `BadDefinition` when the host gave no such cluster */
  get(name: string): { readonly client: Client; readonly cache: Cache } {
    const found = this.#members.get(name)
    if (found) return found
    const known = [...this.#members.keys()].join(', ') || 'none'
    throw new RuntimeError('BadDefinition', `the host has no cluster ${name}; it has: ${known}`)
  }

  /** Keeps the requested caches up to date. */
  async run(signal: AbortSignal): Promise<void> {
    await Promise.all([...this.#members.values()].map(({ cache }) => cache.run(signal)))
  }
}
