import type { JsonObject } from '@coxswain/apimachinery/json'
import {
  newBadRequest,
  newNotFound,
  newRequestEntityTooLarge,
  newServiceUnavailable,
} from '@coxswain/apimachinery/status'
import { listOf, objectOf, textOf } from '@coxswain/strategies'
import { parsePath, parseQuery, type WireResponse } from '@coxswain/wire'
import { admitConnect } from '../admission/admit-part.ts'
import { connectOptions } from '../admission/connect-options.ts'
import { findKubelet, getNode, kubeletPortOf } from '../nodes/kubelet.ts'
import { type Backend, backendAt, backendOnNode } from '../nodes/proxy/backend.ts'
import { chooseEndpoint } from '../nodes/proxy/choose-endpoint.ts'
import { forward, redirectToRoot } from '../nodes/proxy/forward.ts'
import { forwardedHeaders, returnedHeaders } from '../nodes/proxy/proxy-headers.ts'
import { parseProxyName } from '../nodes/proxy/proxy-name.ts'
import { splitProxyPath } from '../nodes/proxy/proxy-path.ts'
import { checkProxyableAddress } from '../nodes/proxyable-address.ts'
import { encodePath } from '../outbound/url-path.ts'
import { freshen } from '../read/read.ts'
import type { Endpoint } from '../registry/registry.ts'
import { objectKey } from '../registry/served-resource.ts'
import type { ResourceContext } from '../request/context.ts'
import { parseRequestInfo } from '../request/request-info.ts'
import type { EndpointHandler } from './endpoint-handler.ts'

const handlers: Readonly<Record<string, EndpointHandler>> = {
  __proto__: null as never,
  nodes: proxyToNode,
  pods: proxyToPod,
  services: proxyToService,
}

/** What answers `RESOURCE/NAME/proxy`, for all methods alike. */
export function findProxyHandler(
  group: string,
  resource: string,
  subresource: string,
): EndpointHandler | undefined {
  return group === '' && subresource === 'proxy' ? handlers[resource] : undefined
}

const noQuery = parseQuery('')

/**
 * Whether a request is for somebody behind the API server, told by its path (as on the wire): such requests have bodies
 * of any length, and ask for upgrades that are not the server's business.
 */
export function isProxyPath(path: string): boolean {
  if (!path.includes('/proxy')) return false
  const info = parseRequestInfo('GET', path, parsePath(path).segments, noQuery)
  return info.isResource && findProxyHandler(info.group, info.resource, info.subresource) !== undefined
}

async function proxyToPod(context: ResourceContext, endpoint: Endpoint): Promise<WireResponse> {
  await begin(context, endpoint)
  const { scheme, name, port } = parseProxyName(context.info.name, 'pod')
  const pod = getObject(context, endpoint, name)
  return await forwardTo(context, backendOfPod(context, pod, { scheme, port: portOf(pod, port, scheme) }))
}

async function proxyToService(context: ResourceContext, endpoint: Endpoint): Promise<WireResponse> {
  await begin(context, endpoint)
  const { scheme, name, port } = parseProxyName(context.info.name, 'service')
  const numbered = /^[+-]?\d+$/.test(port)
  const portName = numbered ? nameOfPort(getObject(context, endpoint, name), name, Number(port)) : port
  const { pod, address, port: number } = chooseEndpoint(context, name, portName)
  return await forwardTo(context, backendOfPod(context, pod, { scheme, port: number, address }))
}

/** Services name their ports; endpoints have the same names and other numbers. */
function nameOfPort(service: JsonObject, name: string, number: number): string {
  const port = listOf(objectOf(service.spec).ports).find(candidate => candidate.port === number)
  if (port) return textOf(port.name)
  throw newServiceUnavailable(`no service port ${number} found for service "${name}"`)
}

async function proxyToNode(context: ResourceContext, endpoint: Endpoint): Promise<WireResponse> {
  await begin(context, endpoint)
  const { state, info } = context
  const { scheme, name, port } = parseProxyName(info.name, 'node')
  const node = getNode(state, name, 'nodes')
  const isKubelet = port === '' || port === String(kubeletPortOf(node))
  if (state.nodes?.hasNode(name)) {
    // Its other ports are those of this machine.
    if (!isKubelet) throw newBadRequest('address not allowed')
    return await askNode(context, name)
  }
  const kubelet = findKubelet(state, node)
  let addresses: readonly string[]
  try {
    addresses = await state.dialer.lookup(kubelet.host)
  } catch (error) {
    throw newBadRequest((error as Error).message)
  }
  if (addresses.length === 0) throw newBadRequest('no addresses for hostname')
  for (const address of addresses) checkProxyableAddress(address)
  // What was judged is what is dialled: a name may have another address by then.
  const address = addresses[0]!
  const backend = isKubelet
    ? backendAt(state.dialer, { scheme: 'https', address, port: kubelet.port }, kubelet.tls)
    : backendAt(state.dialer, { scheme, address, port: numberOfPort(port) })
  return await forwardTo(context, backend)
}

/** One of our own nodes answers itself. */
async function askNode(context: ResourceContext, node: string): Promise<WireResponse> {
  const { request, state } = context
  const asked = splitProxyPath(context)
  const { path } = asked
  const redirect = redirectToRoot(request, asked)
  if (redirect) return redirect
  const { status, headers, body } = await state.nodes!.ask(node, {
    method: request.method,
    path: path === '' ? '/' : encodePath(path),
    query: request.query,
    headers: forwardedHeaders(request, false),
    ...(request.body && { body: request.body }),
    ...(request.bodyStream && { bodyStream: request.bodyStream }),
    signal: request.signal,
  })
  return { status, headers: returnedHeaders(headers), ...(body && { body }), unhurried: true }
}

/** What stands before every proxy: upstream's checks of the request, and admission. */
async function begin(context: ResourceContext, endpoint: Endpoint): Promise<void> {
  const { query, request } = context
  if (query.has('dryRun')) throw newBadRequest('dryRun is not supported')
  if (request.bodyTooLarge) throw newRequestEntityTooLarge('limit is 3145728')
  await admitConnect(context, endpoint, connectOptions(context))
  await freshen(context, '', 0)
}

async function forwardTo(context: ResourceContext, backend: Backend): Promise<WireResponse> {
  const { request, state } = context
  return await forward({
    request,
    path: splitProxyPath(context),
    backend,
    ...(state.compression && { compression: state.compression }),
  })
}

function getObject({ info }: ResourceContext, { resource }: Endpoint, name: string): JsonObject {
  const stored = resource.cache.get(objectKey(resource, info.namespace, name))
  if (!stored) throw newNotFound(resource.info, name)
  return stored.parse()
}

interface PodPlace {
  readonly scheme: 'http' | 'https'
  readonly port: number
  /** @default the Pod's first */
  readonly address?: string
}

/** Pods of our own nodes are reached through them, others by their address. */
function backendOfPod({ state }: ResourceContext, pod: JsonObject, place: PodPlace): Backend {
  const { scheme, port, address = podIPOf(pod) } = place
  const { namespace, name } = objectOf(pod.metadata)
  const { nodes, dialer } = state
  if (address !== '' && nodes?.hasNode(textOf(objectOf(pod.spec).nodeName))) {
    const podAddress = { namespace: textOf(namespace), name: textOf(name) }
    return backendOnNode(nodes, dialer, podAddress, { scheme, address, port })
  }
  checkProxyableAddress(address)
  return backendAt(dialer, { scheme, address, port })
}

function podIPOf({ status }: JsonObject): string {
  const { podIP, podIPs } = objectOf(status)
  return textOf(listOf(podIPs)[0]?.ip) || textOf(podIP)
}

/** A Pod's port by number or by name; its first one when none is named, and the scheme's when it has none. */
function portOf(pod: JsonObject, port: string, scheme: 'http' | 'https'): number {
  const ports = listOf(objectOf(pod.spec).containers).flatMap(container => listOf(container.ports))
  if (port === '') return Number(ports[0]?.containerPort ?? (scheme === 'https' ? 443 : 80))
  const named = ports.find(({ name }) => name === port)
  return named ? Number(named.containerPort) : numberOfPort(port)
}

function numberOfPort(port: string): number {
  const number = Number(port)
  if (/^\d+$/.test(port) && number > 0 && number < 65_536) return number
  const reason = /^\d+$/.test(port)
    ? `dial tcp: address ${port}: invalid port`
    : `dial tcp: lookup tcp/${port}: unknown port`
  throw newServiceUnavailable(`error trying to reach service: ${reason}`)
}
