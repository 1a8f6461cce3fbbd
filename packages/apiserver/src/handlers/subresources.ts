import { newBadRequest, newConflict, newNotFound, successStatus } from '@coxswain/apimachinery'
import type { JsonObject } from '../json.ts'
import { childObject } from '../json.ts'
import type { Endpoint } from '../registry/registry.ts'
import type { ResourceRequestInfo } from '../request/request-info.ts'
import { statusResponse } from '../response.ts'
import { readBody } from './body.ts'
import { guaranteedUpdate } from './guaranteed-update.ts'
import { formatTime, metadataOf } from './lifecycle.ts'
import type { EndpointHandler } from './route.ts'
import { handleScale } from './scale.ts'
import { View } from './view.ts'

/** Subresources that do something of their own, by `GROUP/RESOURCE/SUBRESOURCE verb`. */
const handlers: Readonly<Record<string, EndpointHandler>> = {
  '/namespaces/finalize update': finalizeNamespace,
  '/pods/binding create': bindPod,
}

export function findSubresourceHandler(
  endpoint: Endpoint,
  info: ResourceRequestInfo,
): EndpointHandler | undefined {
  if (info.subresource === 'scale') return handleScale
  const { group, resource } = endpoint.resource.info
  return handlers[`${group}/${resource}/${info.subresource} ${info.verb}`]
}

/** Replaces a namespace's `spec.finalizers`; a namespace that is going and has none left is gone. */
async function finalizeNamespace(
  ...[context, endpoint]: Parameters<EndpointHandler>
): ReturnType<EndpointHandler> {
  const view = new View(context, endpoint)
  const { object: body } = readBody(context, false, { apiVersion: 'v1', kind: 'Namespace' })
  const wanted = ((body.spec as JsonObject | undefined)?.finalizers ?? []) as string[]
  const result = await guaranteedUpdate(context.state, {
    endpoint,
    namespace: '',
    name: context.info.name,
    dryRun: false,
    conditional: () => false,
    change: async current => {
      const spec = childObject(current, 'spec')
      if (wanted.length > 0) spec.finalizers = wanted
      else delete spec.finalizers
      const { deletionTimestamp, finalizers } = metadataOf(current)
      const finished = deletionTimestamp !== undefined && wanted.length === 0 && !finalizers?.length
      return { type: finished ? 'delete' : 'put', object: current }
    },
  })
  return view.object(200, result)
}

/** Assigns a pod to a node, once. */
async function bindPod(...[context, endpoint]: Parameters<EndpointHandler>): ReturnType<EndpointHandler> {
  const { object: binding } = readBody(context, false, { apiVersion: 'v1', kind: 'Binding' })
  const { info } = endpoint.resource
  const target = (binding.target ?? {}) as { name?: string; kind?: string }
  if (!target.name) throw newBadRequest('a binding needs target.name, the node')
  if (
    !endpoint.resource.cache.get(
      `${endpoint.resource.cache.prefix}${context.info.namespace}/${context.info.name}`,
    )
  ) {
    throw newNotFound(info, context.info.name)
  }
  await guaranteedUpdate(context.state, {
    endpoint,
    namespace: context.info.namespace,
    name: context.info.name,
    dryRun: false,
    conditional: () => false,
    change: async pod => {
      const spec = childObject(pod, 'spec')
      if (metadataOf(pod).deletionTimestamp) {
        throw newConflict(
          { group: '', resource: 'pods/binding' },
          context.info.name,
          `pod ${context.info.name} is being deleted, cannot be assigned to a host`,
        )
      }
      if (spec.nodeName) {
        throw newConflict(
          { group: '', resource: 'pods/binding' },
          context.info.name,
          `pod ${context.info.name} is already assigned to node "${spec.nodeName}"`,
        )
      }
      spec.nodeName = target.name
      markScheduled(childObject(pod, 'status'), formatTime(context.state.env.clock.now()))
      return { type: 'put', object: pod }
    },
  })
  return statusResponse(successStatus(undefined, 201))
}

function markScheduled(status: JsonObject, now: string): void {
  const conditions = ((status.conditions ?? []) as JsonObject[]).filter(({ type }) => type !== 'PodScheduled')
  status.conditions = [
    ...conditions,
    { type: 'PodScheduled', status: 'True', lastProbeTime: null, lastTransitionTime: now },
  ]
}
