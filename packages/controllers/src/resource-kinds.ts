import { type Client, createDiscovery, type Discovery, type DynamicKind, kindFor } from '@coxswain/client'

/** A resource that the server serves, at its group's preferred version. */
export interface ServedKind {
  readonly kind: DynamicKind
  readonly verbs: readonly string[]
}

/** The result of discovery. */
export interface Served {
  /** Each once, in the server's order of preference. */
  readonly resources: readonly ServedKind[]
  /** The errors of `group/version`s that could not be discovered, by name. */
  readonly failures: ReadonlyMap<string, Error>
}

/** Where a controller learns which resources there are. */
export interface ResourceSource {
  /** All resources, now. */
  refresh(): Promise<Pick<Served, 'resources'>>
  /** @throws if the server does not serve the kind */
  find(apiVersion: string, kind: string): Promise<DynamicKind>
}

/** The kinds that the server serves. */
export class ResourceKinds implements ResourceSource {
  readonly #discovery: Discovery

  constructor(client: Client) {
    this.#discovery = createDiscovery(client)
  }

  /** Discovers all resources. */
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

  /** @throws if the server does not serve the kind */
  find(apiVersion: string, kind: string): Promise<DynamicKind> {
    return this.#discovery.kindOf(apiVersion, kind)
  }
}

export function apiVersionOf(kind: { readonly group: string; readonly version: string }): string {
  return kind.group === '' ? kind.version : `${kind.group}/${kind.version}`
}
