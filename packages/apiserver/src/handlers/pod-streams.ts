import {
  field,
  newBadRequest,
  newInvalid,
  newNotFound,
  newUnknownError,
  parseIP,
  StatusError,
} from '@coxswain/apimachinery'
import { getHeader, type WireResponse } from '@coxswain/wire'
import { admitConnect } from '../admission/admit-part.ts'
import { connectOptions } from '../admission/connect-options.ts'
import type { JsonObject } from '../json.ts'
import type { NodeConnection, PodAddress } from '../nodes/node-connection.ts'
import { createPortConversation } from '../nodes/port-forward.ts'
import { createCommandConversation, type RunCommand } from '../nodes/remote-command.ts'
import { type AcceptSpdy, createSpdyCommandConversation, createSpdyPortConversation } from '../nodes/spdy.ts'
import type { Endpoint } from '../registry/registry.ts'
import type { ResourceContext } from '../request/context.ts'
import { readInteger } from '../request/query.ts'
import { listOf, objectOf, textOf } from '../strategies/pod/validation/reading.ts'
import { freshen, getStored } from './read.ts'

/** `pods/log`. A pod that no node runs has said nothing yet. */
export async function readLog(context: ResourceContext, endpoint: Endpoint): Promise<WireResponse> {
  checkLogOptions(context)
  const pod = await readPod(context, endpoint)
  const { query, request } = context
  const container = chooseContainer(pod, query.get('container') ?? '')
  if (nodeOf(pod) === '') return { status: 204, headers: {}, body: new Uint8Array() }
  const since = sinceOf(context)
  const tailLines = readInteger(query, 'tailLines')
  const limitBytes = readInteger(query, 'limitBytes')
  const body = await nodesOf(context, pod).readLog(addressOf(pod), container, {
    follow: isTrue(query.get('follow')),
    previous: isTrue(query.get('previous')),
    timestamps: isTrue(query.get('timestamps')),
    ...(since !== undefined && { since }),
    ...(tailLines !== undefined && { tailLines }),
    ...(limitBytes !== undefined && { limitBytes }),
    signal: request.signal,
  })
  return { status: 200, headers: { 'content-type': 'text/plain' }, body }
}

/** `pods/exec` and `pods/attach`. */
export async function openTerminal(context: ResourceContext, endpoint: Endpoint): Promise<WireResponse> {
  await admitConnect(context, endpoint, connectOptions(context))
  const pod = await readPod(context, endpoint)
  const { query, info } = context
  const container = chooseContainer(pod, query.get('container') ?? '')
  checkHost(pod)
  const nodes = nodesOf(context, pod)
  requireUpgrade(context)
  const request = { stdin: isTrue(query.get('stdin')), tty: isTrue(query.get('tty')) }
  const run: RunCommand = async streams => {
    if (info.subresource === 'exec')
      return await nodes.exec(addressOf(pod), container, query.getAll('command'), streams)
    await nodes.attach(addressOf(pod), container, streams)
    return undefined
  }
  const outputs = { stdout: isTrue(query.get('stdout')), stderr: isTrue(query.get('stderr')) }
  const conversation = wantsSpdy(context)
    ? createSpdyCommandConversation(spdyOf(context), { ...request, ...outputs }, run)
    : createCommandConversation(request, run)
  return { status: 101, headers: {}, conversation }
}

/** `pods/portforward`. */
export async function forwardPort(context: ResourceContext, endpoint: Endpoint): Promise<WireResponse> {
  await admitConnect(context, endpoint, connectOptions(context))
  const pod = await readPod(context, endpoint)
  checkHost(pod)
  const nodes = nodesOf(context, pod)
  requireUpgrade(context)
  const ports = context.query.getAll('ports').flatMap(text => text.split(',').map(Number))
  const dial = (port: number) => nodes.dial(addressOf(pod), port)
  const isTunnel = /(?:^|[\s,])SPDY\/3\.1\+/.test(
    getHeader(context.request.headers, 'sec-websocket-protocol') ?? '',
  )
  const conversation =
    isTunnel || wantsSpdy(context)
      ? createSpdyPortConversation(spdyOf(context), dial)
      : createPortConversation(ports, dial)
  return { status: 101, headers: {}, conversation }
}

const isTrue = (text: string | undefined): boolean => text === 'true' || text === '1'

const wantsSpdy = ({ request }: ResourceContext): boolean =>
  /^spdy\/3\.1$/i.test(getHeader(request.headers, 'upgrade') ?? '')

function spdyOf({ state }: ResourceContext): AcceptSpdy {
  if (state.acceptSpdy) return state.acceptSpdy
  throw newBadRequest('SPDY is not spoken here')
}

/** Milliseconds since the epoch. */
function sinceOf({ query, state }: ResourceContext): number | undefined {
  const seconds = readInteger(query, 'sinceSeconds')
  if (seconds !== undefined) return state.env.clock.now() - seconds * 1000
  const time = query.get('sinceTime') ?? ''
  return time === '' ? undefined : Date.parse(time)
}

function addressOf(pod: JsonObject): PodAddress {
  const { namespace, name } = objectOf(pod.metadata)
  return { namespace: textOf(namespace), name: textOf(name) }
}

/** Throws where the pod's node, or the way to it, is not there. */
function nodesOf(context: ResourceContext, pod: JsonObject): NodeConnection {
  const { nodes } = context.state
  if (!nodes || !isNode(context, nodeOf(pod))) throw unreachable(context, pod)
  return nodes
}

function requireUpgrade({ request }: ResourceContext): void {
  if (getHeader(request.headers, 'upgrade') === undefined) throw newBadRequest('Upgrade request required')
}

/** `pods/proxy`. The pod's address decides; loopback and link-local ones are not the cluster's. */
export async function proxyToPod(context: ResourceContext, endpoint: Endpoint): Promise<WireResponse> {
  await admitConnect(context, endpoint, connectOptions(context))
  const pod = await readPod(context, endpoint)
  const ip = parseIP(textOf(objectOf(pod.status).podIP))
  if (!ip || !isGlobalUnicast(ip.bytes)) throw newBadRequest('address not allowed')
  throw notServed('connections to pods are not served')
}

async function readPod(context: ResourceContext, endpoint: Endpoint): Promise<JsonObject> {
  await freshen(context, '', 0)
  return getStored(context, endpoint).parse()
}

const nodeOf = (pod: JsonObject): string => textOf(objectOf(pod.spec).nodeName)
const nameOf = (pod: JsonObject): string => textOf(objectOf(pod.metadata).name)

/** The one that was asked for, or the pod's only one. Throws a 400 when there is no such container. */
function chooseContainer(pod: JsonObject, container: string): string {
  const spec = objectOf(pod.spec)
  const names = ['initContainers', 'containers', 'ephemeralContainers'].flatMap(kind =>
    listOf(spec[kind]).map(({ name }) => textOf(name)),
  )
  if (container !== '') {
    if (names.includes(container)) return container
    throw newBadRequest(`container ${container} is not valid for pod ${nameOf(pod)}`)
  }
  const count = listOf(spec.containers).length
  if (count === 1) return textOf(listOf(spec.containers)[0]!.name)
  const choice = count === 0 ? '' : `, choose one of: [${names.join(' ')}]`
  throw newBadRequest(`a container name must be specified for pod ${nameOf(pod)}${choice}`)
}

function checkHost(pod: JsonObject): void {
  if (nodeOf(pod) === '') throw newBadRequest(`pod ${nameOf(pod)} does not have a host assigned`)
}

function isNode({ state }: ResourceContext, name: string): boolean {
  const { cache } = state.registry.find('', 'v1', 'nodes')!.resource
  return cache.get(cache.prefix + name) !== undefined
}

/** A node that exists cannot be reached, one that does not is not found. */
function unreachable(context: ResourceContext, pod: JsonObject): StatusError {
  const nodes = context.state.registry.find('', 'v1', 'nodes')!.resource
  const name = nodeOf(pod)
  if (!isNode(context, name)) return newNotFound(nodes.info, name)
  return notServed('connections to kubelets are not served')
}

function notServed(message: string): StatusError {
  return new StatusError({ ...newUnknownError(message).status, reason: 'NotImplemented', code: 501 })
}

function isGlobalUnicast(bytes: Uint8Array): boolean {
  const [first = 0, second = 0] = bytes
  if (bytes.length === 4)
    return first !== 0 && first !== 127 && first < 224 && !(first === 169 && second === 254)
  const isLow = bytes.slice(0, 15).every(byte => byte === 0)
  return !isLow && first !== 0xff && !(first === 0xfe && (second & 0xc0) === 0x80)
}

function checkLogOptions({ query }: ResourceContext): void {
  const errors = []
  const tailLines = readInteger(query, 'tailLines')
  const limitBytes = readInteger(query, 'limitBytes')
  const sinceSeconds = readInteger(query, 'sinceSeconds')
  if (tailLines !== undefined && tailLines < 0)
    errors.push(field.invalid(field.Path.of('tailLines'), tailLines, 'must be greater than or equal to 0'))
  if (limitBytes !== undefined && limitBytes < 1)
    errors.push(field.invalid(field.Path.of('limitBytes'), limitBytes, 'must be greater than 0'))
  if (sinceSeconds !== undefined && query.get('sinceTime') !== undefined) {
    const message = 'at most one of `sinceTime` or `sinceSeconds` may be specified'
    errors.push(field.forbidden(field.Path.of(''), message))
  } else if (sinceSeconds !== undefined && sinceSeconds < 1) {
    errors.push(field.invalid(field.Path.of('sinceSeconds'), sinceSeconds, 'must be greater than 0'))
  }
  if (query.get('stream') !== undefined)
    errors.push(field.forbidden(field.Path.of('stream'), 'may not be specified'))
  if (errors.length > 0) throw newInvalid({ group: '', kind: 'PodLogOptions' }, '', errors)
}
