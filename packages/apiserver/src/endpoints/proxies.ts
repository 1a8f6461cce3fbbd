import type { JsonObject } from '@coxswain/apimachinery/json'
import {
  newBadRequest,
  newNotFound,
  newRequestEntityTooLarge,
  newServiceUnavailable,
} from '@coxswain/apimachinery/status'
import type { Env } from '@coxswain/kit'
import { listOf, objectOf, textOf } from '@coxswain/strategies'
import { parsePath, parseQuery, type WireResponse } from '@coxswain/wire'
import type { Admission } from '../admission/admission.ts'
import { admitConnect } from '../admission/admit-part.ts'
import { connectOptions } from '../admission/connect-options.ts'
import { findKubelet, getNode, type KubeletPorts, kubeletPortOf } from '../nodes/kubelet.ts'
import type { NodeConnection } from '../nodes/node-connection.ts'
import { type Backend, backendAt, backendOnNode } from '../nodes/proxy/backend.ts'
import { chooseEndpoint } from '../nodes/proxy/choose-endpoint.ts'
import { forward, redirectToRoot } from '../nodes/proxy/forward.ts'
import { forwardedHeaders, returnedHeaders } from '../nodes/proxy/proxy-headers.ts'
import { parseProxyName } from '../nodes/proxy/proxy-name.ts'
import { splitProxyPath } from '../nodes/proxy/proxy-path.ts'
import { checkProxyableAddress } from '../nodes/proxyable-address.ts'
import { encodePath } from '../outbound/url-path.ts'
import type { Reader } from '../read/read.ts'
import { type Endpoint, objectKey } from '../registry/registry.ts'
import type { Compression } from '../request/compression.ts'
import type { ResourceContext } from '../request/context.ts'
import { parseRequestInfo, type ResourceRequestInfo } from '../request/request-info.ts'

/** What proxies need of the server. */
export interface ProxyPorts extends KubeletPorts {
  readonly env: Env
  readonly reader: Reader
  readonly admission: Admission
  /** The connection to kubelets of this process, if there are any. */
  readonly nodes?: NodeConnection
  /** For compressed pages. */
  readonly compression?: Compression
}

type ProxyHandler = (ports: ProxyPorts, context: ResourceContext, endpoint: Endpoint) => Promise<WireResponse>

const handlers: Readonly<Record<string, ProxyHandler>> = {
  __proto__: null as never,
  nodes: proxyToNode,
  pods: proxyToPod,
  services: proxyToService,
}

/** Handles `RESOURCE/NAME/proxy`, the same for all methods. */
export function findProxyHandler({
  group,
  resource,
  subresource,
}: Pick<ResourceRequestInfo, 'group' | 'resource' | 'subresource'>): ProxyHandler | undefined {
  return group === '' && subresource === 'proxy' ? handlers[resource] : undefined
}

const noQuery = parseQuery('')

/**
 * Whether a request is for a backend behind the API server, judging by its path (as on the wire): such requests have bodies
 * of any length, and their upgrades are passed on.
 */
export function isProxyPath(path: string): boolean {
  if (!path.includes('/proxy')) return false
  const info = parseRequestInfo('GET', path, parsePath(path).segments, noQuery)
  return info.isResource && findProxyHandler(info) !== undefined
}

async function proxyToPod(
  ports: ProxyPorts,
  context: ResourceContext,
  endpoint: Endpoint,
): Promise<WireResponse> {
  await begin(ports, context, endpoint)
  const { scheme, name, port } = parseProxyName(context.info.name, 'pod')
  const pod = getObject(context, endpoint, name)
  return await forwardTo(
    ports,
    context,
    backendOfPod(ports, pod, { scheme, port: portOf(pod, port, scheme) }),
  )
}

async function proxyToService(
  ports: ProxyPorts,
  context: ResourceContext,
  endpoint: Endpoint,
): Promise<WireResponse> {
  await begin(ports, context, endpoint)
  const { scheme, name, port } = parseProxyName(context.info.name, 'service')
  const numbered = /^[+-]?\d+$/.test(port)
  const portName = numbered ? nameOfPort(getObject(context, endpoint, name), name, Number(port)) : port
  const {
    pod,
    address,
    port: number,
  } = chooseEndpoint(ports, {
    namespace: context.info.namespace,
    service: name,
    portName,
    requested: context.info.name,
  })
  return await forwardTo(ports, context, backendOfPod(ports, pod, { scheme, port: number, address }))
}

/** Services name their ports; endpoints have the same names and other numbers. */
function nameOfPort(service: JsonObject, name: string, number: number): string {
  const port = listOf(objectOf(service.spec).ports).find(candidate => candidate.port === number)
  if (port) return textOf(port.name)
  throw newServiceUnavailable(`no service port ${number} found for service "${name}"`)
}

async function proxyToNode(
  ports: ProxyPorts,
  context: ResourceContext,
  endpoint: Endpoint,
): Promise<WireResponse> {
  await begin(ports, context, endpoint)
  const { scheme, name, port } = parseProxyName(context.info.name, 'node')
  const node = getNode(ports, name, 'nodes')
  const isKubelet = port === '' || port === String(kubeletPortOf(node))
  const { nodes, dialer } = ports
  if (nodes?.hasNode(name)) {
    // Its other ports are ports of this machine.
    if (!isKubelet) throw newBadRequest('address not allowed')
    return await forwardToNode(nodes, context, name)
  }
  const kubelet = findKubelet(ports, node)
  let addresses: readonly string[]
  try {
    addresses = await dialer.lookup(kubelet.host)
  } catch (error) {
    throw newBadRequest((error as Error).message)
  }
  if (addresses.length === 0) throw newBadRequest('no addresses for hostname')
  for (const address of addresses) checkProxyableAddress(address)
  // Dials the address that was checked: the name may resolve to another one by then.
  const address = addresses[0]!
  const backend = isKubelet
    ? backendAt(dialer, { scheme: 'https', address, port: kubelet.port }, kubelet.tls)
    : backendAt(dialer, { scheme, address, port: numberOfPort(port) })
  return await forwardTo(ports, context, backend)
}

/** Our own nodes serve the request themselves. */
async function forwardToNode(
  nodes: NodeConnection,
  context: ResourceContext,
  node: string,
): Promise<WireResponse> {
  const { request } = context
  const asked = splitProxyPath(context)
  const { path } = asked
  const redirect = redirectToRoot(request, asked)
  if (redirect) return redirect
  const { status, headers, body } = await nodes.ask(node, {
    method: request.method,
    path: path === '' ? '/' : encodePath(path),
    query: request.query,
    headers: forwardedHeaders(request),
    ...(request.body && { body: request.body }),
    ...(request.bodyStream && { bodyStream: request.bodyStream }),
    signal: request.signal,
  })
  return { status, headers: returnedHeaders(headers), ...(body && { body }), unhurried: true }
}

/** The checks before every proxy request: upstream's checks of the request, and admission. */
async function begin(
  { admission, reader }: ProxyPorts,
  context: ResourceContext,
  endpoint: Endpoint,
): Promise<void> {
  const { query, request } = context
  if (query.has('dryRun')) throw newBadRequest('dryRun is not supported')
  if (request.bodyTooLarge) throw newRequestEntityTooLarge('limit is 3145728')
  await admitConnect({ admission, context, endpoint }, connectOptions(context))
  await reader.freshen(context, '', 0)
}

async function forwardTo(
  { compression }: ProxyPorts,
  context: ResourceContext,
  backend: Backend,
): Promise<WireResponse> {
  return await forward({
    request: context.request,
    path: splitProxyPath(context),
    backend,
    ...(compression && { compression }),
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
  /** @default the Pod's first port */
  readonly address?: string
}

/** Pods of our own nodes are reached through the node, others by their address. */
function backendOfPod({ nodes, dialer }: ProxyPorts, pod: JsonObject, place: PodPlace): Backend {
  const { scheme, port, address = podIPOf(pod) } = place
  const { namespace, name } = objectOf(pod.metadata)
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

/** A Pod's port by number or name; the first when none is named, and the scheme's default when the Pod has none. */
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
