import { deepClone } from '@coxswain/apimachinery/json'
import { newInvalid } from '@coxswain/apimachinery/status'
import { validateNamespaceFinalizers } from '@coxswain/strategies'
import type { WireResponse } from '@coxswain/wire'
import { View } from '../read/view.ts'
import type { Endpoint } from '../registry/registry.ts'
import type { ResourceRequestInfo } from '../request/request-info.ts'
import { parseWriteOptions } from '../request/write-options.ts'
import { readBody } from '../write/body.ts'
import { kindOf } from '../write/create.ts'
import { guaranteedUpdate } from '../write/guaranteed-update.ts'
import { receiveObject } from '../write/incoming.ts'
import { metadataOf, placeInNamespace } from '../write/lifecycle.ts'
import { changeObject, checkName, checkVersion, isFinished } from '../write/update.ts'
import type { EndpointHandler } from './endpoint-handler.ts'
import { bindPod, createBinding } from './pod-binding.ts'
import { evictPod } from './pod-eviction.ts'
import { forwardPort, openTerminal, readLog } from './pod-streams.ts'
import { handleScale } from './scale.ts'
import { createToken } from './token-request.ts'

/** Endpoints that do something of their own, by `GROUP/RESOURCE/SUBRESOURCE verb`; the last is empty for the resource itself. */
const handlers: Readonly<Record<string, EndpointHandler>> = {
  '/namespaces/finalize update': finalizeNamespace,
  '/bindings/ create': createBinding,
  '/pods/binding create': bindPod,
  '/serviceaccounts/token create': createToken,
  '/pods/eviction create': evictPod,
  '/pods/log get': readLog,
  '/pods/exec create': openTerminal,
  '/pods/exec get': openTerminal,
  '/pods/attach create': openTerminal,
  '/pods/attach get': openTerminal,
  '/pods/portforward create': forwardPort,
  '/pods/portforward get': forwardPort,
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
async function finalizeNamespace(...[context, endpoint]: Parameters<EndpointHandler>): Promise<WireResponse> {
  const { info } = endpoint.resource
  const view = new View(context, endpoint)
  const options = parseWriteOptions(context, 'UpdateOptions')
  const received = receiveObject(context, endpoint, readBody(context, false, kindOf(endpoint)), options)
  checkName(context, metadataOf(received).name)
  placeInNamespace(endpoint.resource, received, '')
  const { finalizers = [] } = (received.spec ?? {}) as { finalizers?: string[] }
  const version = metadataOf(received).resourceVersion
  const result = await guaranteedUpdate(context.state, {
    endpoint,
    namespace: '',
    name: context.info.name,
    dryRun: options.dryRun,
    conditional: () => Boolean(version),
    change: async current => {
      checkVersion(info, current, version)
      const errors = validateNamespaceFinalizers(finalizers)
      if (errors.length > 0) throw newInvalid(info, context.info.name, errors)
      const { object } = await changeObject(context, endpoint, deepClone(received), current, options)
      object.spec = finalizers.length > 0 ? { finalizers } : {}
      return { type: isFinished(endpoint, object) ? 'delete' : 'put', object }
    },
  })
  return view.object(200, result)
}
