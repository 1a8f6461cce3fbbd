import type { VersionInfo } from '@coxswain/apimachinery/kinds'
import type { ServedResource } from './served-resource.ts'

/** A resource at a version that clients may use. */
export interface Endpoint {
  readonly resource: ServedResource
  readonly version: VersionInfo
}

/** Everything the server serves now, by group, version and resource. Built-in kinds stay; CRDs come and go. */
export class Registry {
  readonly #endpoints = new Map<string, Endpoint>()
  readonly #resources = new Map<string, ServedResource>()
  #generation = 0

  /** Grows with every change: what is built from the registry is kept until then. */
  get generation(): number {
    return this.#generation
  }

  /** In the order in which they were added. */
  resources(): Iterable<ServedResource> {
    return this.#resources.values()
  }

  find(group: string, version: string, resource: string): Endpoint | undefined {
    return this.#endpoints.get(`${group}/${version}/${resource}`)
  }

  findResource(group: string, resource: string): ServedResource | undefined {
    return this.#resources.get(`${group}/${resource}`)
  }

  /** Whether any resource is served at this group and version. */
  hasGroupVersion(group: string, version: string): boolean {
    const prefix = `${group}/${version}/`
    for (const key of this.#endpoints.keys()) if (key.startsWith(prefix)) return true
    return false
  }

  /** Whether Kubernetes itself has the group, whatever its versions. */
  hasBuiltinGroup(group: string): boolean {
    for (const resource of this.#resources.values())
      if (!resource.custom && resource.info.group === group) return true
    return false
  }

  /** Takes the place of what was served under the same group and name. */
  add(resource: ServedResource): void {
    this.remove(resource.info.group, resource.info.resource)
    const { group, resource: name, versions } = resource.info
    this.#resources.set(`${group}/${name}`, resource)
    for (const version of versions) {
      if (version.served) this.#endpoints.set(`${group}/${version.name}/${name}`, { resource, version })
    }
    this.#generation++
  }

  remove(group: string, name: string): void {
    const resource = this.#resources.get(`${group}/${name}`)
    if (!resource) return
    this.#resources.delete(`${group}/${name}`)
    for (const version of resource.info.versions) this.#endpoints.delete(`${group}/${version.name}/${name}`)
    this.#generation++
  }
}
