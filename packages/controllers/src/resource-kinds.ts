import { type Client, createDiscovery, type Discovery, type DynamicKind, kindFor } from '@coxswain/client'

/** A resource the server serves, at its group's preferred version. */
export interface ServedKind {
  readonly kind: DynamicKind
  readonly verbs: readonly string[]
}

/** What discovery brought. */
export interface Served {
  /** Once each, in the server's order of preference. */
  readonly resources: readonly ServedKind[]
  /** Why some `group/version`s could not be asked, by their name. */
  readonly failures: ReadonlyMap<string, Error>
}

/** Which kinds the server has. */
export class ResourceKinds {
  readonly #discovery: Discovery

  constructor(client: Client) {
    this.#discovery = createDiscovery(client)
  }

  /** Everything as it is now. */
  async refresh(): Promise<Served> {
    this.#discovery.invalidate()
    const groups = await this.#discovery.groups()
    const resources = groups.flatMap(({ versions }) => {
      const seen = new Set<string>()
      return versions.flatMap(({ group, version, resources: served }) =>
        served.flatMap(({ name, singular, kind, namespaced, verbs }) => {
          if (seen.has(name)) return []
          seen.add(name)
          return [{ verbs, kind: kindFor({ group, version, kind, resource: name, singular, namespaced }) }]
        }),
      )
    })
    return { resources, failures: await this.#discovery.failures() }
  }

  /** Throws when the server has no such kind. */
  find(apiVersion: string, kind: string): Promise<DynamicKind> {
    return this.#discovery.kindOf(apiVersion, kind)
  }
}

export function apiVersionOf(kind: { readonly group: string; readonly version: string }): string {
  return kind.group === '' ? kind.version : `${kind.group}/${kind.version}`
}
