import { decodeBuiltin } from '@coxswain/api'
import { createFieldManager, type FieldManager } from '@coxswain/apimachinery/apply'
import type { JsonObject } from '@coxswain/apimachinery/json'
import { formatTime } from '@coxswain/apimachinery/time'
import { convertForServing } from '../registry/convert.ts'
import type { Endpoint } from '../registry/registry.ts'
import { apiVersionOf, type ServedResource } from '../registry/served-resource.ts'
import type { ServerState } from '../request/context.ts'

export interface TrackedWrite {
  readonly object: JsonObject
  readonly old: JsonObject | undefined
  readonly manager: string
  readonly subresource: string
}

const managers = new WeakMap<object, FieldManager>()

/** The keeper of `metadata.managedFields` of one resource at one version. */
export function fieldManagerOf(state: ServerState, endpoint: Endpoint): FieldManager {
  let manager = managers.get(endpoint)
  if (!manager) {
    manager = makeManager(state, endpoint)
    managers.set(endpoint, manager)
  }
  return manager
}

/** The resources that show the same objects, in whatever group. */
function siblingsOf({ registry }: ServerState, resource: ServedResource): ServedResource[] {
  const others = [...registry.resources()].filter(({ cache }) => cache === resource.cache)
  return others.includes(resource) ? others : [resource]
}

function makeManager(state: ServerState, endpoint: Endpoint): FieldManager {
  const { resource, version } = endpoint
  const { group, kind } = resource.info
  const hasStatus = version.subresources.some(({ name }) => name === 'status')
  const byVersion = new Map<string, Endpoint>()
  for (const sibling of siblingsOf(state, resource)) {
    for (const candidate of sibling.info.versions)
      byVersion.set(apiVersionOf(sibling.info.group, candidate.name), {
        resource: sibling,
        version: candidate,
      })
  }
  return createFieldManager({
    apiVersion: apiVersionOf(group, version.name),
    kind,
    schema: version.schema(),
    versions: {
      schemaOf: apiVersion => byVersion.get(apiVersion)?.version.schema(),
      convert: (object, apiVersion) => {
        const target = byVersion.get(apiVersion)
        return target && convertForServing(target, object)
      },
    },
    resetFields:
      resource.strategy.resetFields ??
      (subresource =>
        subresource === 'status' ? { only: ['status'] } : hasStatus ? { reset: ['status'] } : undefined),
    ...(!resource.custom && {
      emptyObject: decodeBuiltin(
        { group, version: version.name, kind },
        { apiVersion: apiVersionOf(group, version.name), kind },
      ).object,
    }),
    now: () => formatTime(state.env.clock.now()),
  })
}

/** Notes in `metadata.managedFields` who wrote which fields. */
export function trackUpdate(state: ServerState, endpoint: Endpoint, write: TrackedWrite): void {
  const { object, old, manager, subresource } = write
  const tracked = fieldManagerOf(state, endpoint).update({ live: old, next: object, manager, subresource })
  const { managedFields } = tracked.metadata as JsonObject
  const metadata = object.metadata as JsonObject
  if (managedFields === undefined) delete metadata.managedFields
  else metadata.managedFields = managedFields
}
