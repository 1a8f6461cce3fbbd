import { createFieldManager, type FieldManager } from '@coxswain/apimachinery/apply'
import type { JsonObject } from '@coxswain/apimachinery/json'
import { formatTime } from '@coxswain/apimachinery/time'
import type { Clock } from '@coxswain/kit'
import { convertForServing } from '../registry/convert.ts'
import { apiVersionOf, type Endpoint, type Registry, type ServedResource } from '../registry/registry.ts'

/** What field managers need of the server. */
export interface FieldManagerPorts {
  readonly clock: Clock
  readonly registry: Registry
}

/** The field managers, one per resource and version. */
export class FieldManagers {
  readonly #ports: FieldManagerPorts
  /** An endpoint is created anew whenever its resource changes. */
  readonly #managers = new WeakMap<Endpoint, FieldManager>()

  constructor(ports: FieldManagerPorts) {
    this.#ports = ports
  }

  of(endpoint: Endpoint): FieldManager {
    let manager = this.#managers.get(endpoint)
    if (!manager) {
      manager = createManager(this.#ports, endpoint)
      this.#managers.set(endpoint, manager)
    }
    return manager
  }
}

/** The resources that serve the same objects, in any group. */
function siblingsOf(registry: Registry, resource: ServedResource): ServedResource[] {
  const others = [...registry.resources()].filter(({ cache }) => cache === resource.cache)
  return others.includes(resource) ? others : [resource]
}

function createManager({ clock, registry }: FieldManagerPorts, endpoint: Endpoint): FieldManager {
  const { resource, version } = endpoint
  const { group, kind } = resource.info
  const apiVersion = apiVersionOf(group, version.name)
  const hasStatus = version.subresources.some(({ name }) => name === 'status')
  const byVersion = new Map<string, Endpoint>()
  for (const sibling of siblingsOf(registry, resource)) {
    for (const candidate of sibling.info.versions)
      byVersion.set(apiVersionOf(sibling.info.group, candidate.name), {
        resource: sibling,
        version: candidate,
      })
  }
  return createFieldManager({
    apiVersion,
    kind,
    schema: version.schema(),
    versions: {
      schemaOf: name => byVersion.get(name)?.version.schema(),
      convert: (object, name) => {
        const target = byVersion.get(name)
        return target && convertForServing(target, object)
      },
    },
    resetFields:
      resource.strategy.resetFields ??
      (subresource =>
        subresource === 'status' ? { only: ['status'] } : hasStatus ? { reset: ['status'] } : undefined),
    emptyObject: resource.typed(endpoint, { apiVersion, kind } as JsonObject),
    now: () => formatTime(clock.now()),
  })
}
