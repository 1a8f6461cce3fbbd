import type { Endpoint } from '../registry/registry.ts'
import type { ResourceRequestInfo } from '../request/request-info.ts'
import type { EndpointHandler } from './endpoint-handler.ts'
import { finalizeNamespace } from './namespace-finalize.ts'
import { type BindingPorts, bindPod, createBinding } from './pod-binding.ts'
import { evictPod } from './pod-eviction.ts'
import { forwardPort, openTerminal, type PodStreamPorts, readLog } from './pod-streams.ts'
import { createScaleHandler } from './scale.ts'
import { createToken, type TokenPorts } from './token-request.ts'

/** What subresources need of the server. */
export interface SubresourcePorts {
  readonly write: BindingPorts
  readonly pods: PodStreamPorts
  readonly tokens: TokenPorts
}

export type FindSubresource = (endpoint: Endpoint, info: ResourceRequestInfo) => EndpointHandler | undefined

/** Finds the handlers of endpoints that are more than a read or write of the object. */
export function createSubresources({ write, pods, tokens }: SubresourcePorts): FindSubresource {
  const scale = createScaleHandler(write)
  const terminal: EndpointHandler = (context, endpoint) => openTerminal(pods, context, endpoint)
  const portForward: EndpointHandler = (context, endpoint) => forwardPort(pods, context, endpoint)
  /** By `GROUP/RESOURCE/SUBRESOURCE verb`; the subresource is empty for the resource itself. */
  const handlers: Readonly<Record<string, EndpointHandler>> = {
    '/namespaces/finalize update': (context, endpoint) => finalizeNamespace(write, context, endpoint),
    '/bindings/ create': (context, endpoint) => createBinding(write, context, endpoint),
    '/pods/binding create': (context, endpoint) => bindPod(write, context, endpoint),
    '/serviceaccounts/token create': (context, endpoint) => createToken(tokens, context, endpoint),
    '/pods/eviction create': (context, endpoint) => evictPod(write, context, endpoint),
    '/pods/log get': (context, endpoint) => readLog(pods, context, endpoint),
    '/pods/exec create': terminal,
    '/pods/exec get': terminal,
    '/pods/attach create': terminal,
    '/pods/attach get': terminal,
    '/pods/portforward create': portForward,
    '/pods/portforward get': portForward,
  }
  return ({ resource }, { subresource, verb }) =>
    subresource === 'scale'
      ? scale
      : handlers[`${resource.info.group}/${resource.info.resource}/${subresource} ${verb}`]
}
