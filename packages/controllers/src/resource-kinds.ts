import { type Client, createDiscovery, type Discovery, type DynamicKind, kindFor } from '@coxswain/client'

/** A resource the server serves, at its group's preferred version. */
export interface ServedKind {
  readonly kind: DynamicKind
  readonly verbs: readonly string[]
}

/** Which kinds the server has. */
export class ResourceKinds {
  readonly #discovery: Discovery

  constructor(client: Client) {
    this.#discovery = createDiscovery(client)
  }

  /** Every resource as it is now, once each, in the server's order of preference. */
  async refresh(): Promise<readonly ServedKind[]> {
    this.#discovery.invalidate()
    return (await this.#discovery.groups()).flatMap(({ versions }) => {
      const seen = new Set<string>()
      return versions.flatMap(({ group, version, resources }) =>
        resources.flatMap(({ name, singular, kind, namespaced, verbs }) => {
          if (seen.has(name)) return []
          seen.add(name)
          return [{ verbs, kind: kindFor({ group, version, kind, resource: name, singular, namespaced }) }]
        }),
      )
    })
  }

  /** Throws when the server has no such kind. */
  find(apiVersion: string, kind: string): Promise<DynamicKind> {
    return this.#discovery.kindOf(apiVersion, kind)
  }
}

export function apiVersionOf(kind: { readonly group: string; readonly version: string }): string {
  return kind.group === '' ? kind.version : `${kind.group}/${kind.version}`
}
