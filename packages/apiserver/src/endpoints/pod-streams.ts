import { isMachineryError } from '@coxswain/apimachinery/errors'
import * as field from '@coxswain/apimachinery/field'
import type { JsonObject } from '@coxswain/apimachinery/json'
import { newBadRequest, newInvalid } from '@coxswain/apimachinery/status'
import { parseTime } from '@coxswain/apimachinery/time'
import type { Env } from '@coxswain/kit'
import { listOf, objectOf, textOf } from '@coxswain/strategies'
import { getHeader, type WireResponse } from '@coxswain/wire'
import type { Admission } from '../admission/admission.ts'
import { admitConnect } from '../admission/admit-part.ts'
import { connectOptions } from '../admission/connect-options.ts'
import { authorizeCreate } from '../authorization/authorize-create.ts'
import type { Authorizer } from '../authorization/authorizer.ts'
import { getNode, type KubeletPorts } from '../nodes/kubelet.ts'
import { readFromKubelet, upgradeToKubelet } from '../nodes/kubelet-request.ts'
import type { NodeConnection, PodAddress } from '../nodes/node-connection.ts'
import { createPortConversation } from '../nodes/port-forward.ts'
import { createCommandConversation, type RunCommand } from '../nodes/remote-command.ts'
import { type AcceptSpdy, createSpdyCommandConversation, createSpdyPortConversation } from '../nodes/spdy.ts'
import type { Reader } from '../read/read.ts'
import type { Endpoint } from '../registry/registry.ts'
import type { ResourceContext } from '../request/context.ts'
import { readInteger } from '../request/query.ts'

/** What logs, exec, attach and port-forward need of the server. */
export interface PodStreamPorts extends KubeletPorts {
  readonly env: Env
  readonly reader: Reader
  readonly admission: Admission
  readonly authorizer: Authorizer
  /** The connection to kubelets of this process, if there are any. */
  readonly nodes?: NodeConnection
  /** Speaks SPDY with clients, where supported. */
  readonly acceptSpdy?: AcceptSpdy
}

/** `pods/log`. A Pod without a node has no log yet. */
export async function readLog(
  streams: PodStreamPorts,
  context: ResourceContext,
  endpoint: Endpoint,
): Promise<WireResponse> {
  checkLogOptions(context)
  const pod = await readPod(streams, context, endpoint)
  const { query, request } = context
  const container = chooseContainer(pod, query.get('container') ?? '')
  if (nodeOf(pod) === '') return { status: 204, headers: {}, body: new Uint8Array() }
  const nodes = ownNodeOf(streams, pod)
  if (!nodes) return { ...plainText, body: await readForeignLog(streams, context, { pod, container }) }
  const since = sinceOf(streams, context)
  const tailLines = readInteger(query, 'tailLines')
  const limitBytes = readInteger(query, 'limitBytes')
  const body = await nodes.readLog(addressOf(pod), container, {
    follow: isTrue(query.get('follow')),
    previous: isTrue(query.get('previous')),
    timestamps: isTrue(query.get('timestamps')),
    ...(since !== undefined && { since }),
    ...(tailLines !== undefined && { tailLines }),
    ...(limitBytes !== undefined && { limitBytes }),
    signal: request.signal,
  })
  return { ...plainText, body }
}

const plainText = { status: 200, headers: { 'content-type': 'text/plain' }, unhurried: true }

/** From the kubelet of a foreign node. */
async function readForeignLog(
  streams: PodStreamPorts,
  { query, request }: ResourceContext,
  { pod, container }: { readonly pod: JsonObject; readonly container: string },
): Promise<AsyncIterable<Uint8Array>> {
  const { namespace, name } = addressOf(pod)
  const isSet = (parameter: string) => (isTrue(query.get(parameter)) ? 'true' : undefined)
  const given = (parameter: string) => query.get(parameter) || undefined
  const asked = {
    node: nodeOf(pod),
    path: `/containerLogs/${namespace}/${name}/${container}`,
    query: {
      follow: isSet('follow'),
      limitBytes: given('limitBytes'),
      previous: isSet('previous'),
      sinceSeconds: given('sinceSeconds'),
      sinceTime: given('sinceTime'),
      tailLines: given('tailLines'),
      timestamps: isSet('timestamps'),
    },
  }
  const insecure = isTrue(query.get('insecureSkipTLSVerifyBackend'))
  return await readFromKubelet(streams, asked, {
    signal: request.signal,
    name,
    insecure,
    resource: 'pods/log',
  })
}

/** `pods/exec` and `pods/attach`. */
export async function openTerminal(
  streams: PodStreamPorts,
  context: ResourceContext,
  endpoint: Endpoint,
): Promise<WireResponse> {
  await beginConnect(streams, context, endpoint)
  const pod = await readPod(streams, context, endpoint)
  const { query, info } = context
  const container = chooseContainer(pod, query.get('container') ?? '')
  checkHost(pod)
  const nodes = ownNodeOf(streams, pod)
  requireUpgrade(context)
  if (!nodes) {
    const { namespace, name } = addressOf(pod)
    const isSet = (parameter: string) => (isTrue(query.get(parameter)) ? '1' : undefined)
    return await upgradeToKubelet(streams, context.request, {
      node: nodeOf(pod),
      path: `/${info.subresource}/${namespace}/${name}/${container}`,
      query: {
        ...(info.subresource === 'exec' && { command: query.getAll('command') }),
        error: isSet('stderr'),
        input: isSet('stdin'),
        output: isSet('stdout'),
        tty: isSet('tty'),
      },
    })
  }
  if (info.subresource === 'exec' && (query.get('command') ?? '') === '')
    throw newBadRequest('you must specify at least one command for the container')
  const request = { stdin: isTrue(query.get('stdin')), tty: isTrue(query.get('tty')) }
  const run: RunCommand = async streams => {
    if (info.subresource === 'exec')
      return await nodes.exec(addressOf(pod), container, query.getAll('command'), streams)
    await nodes.attach(addressOf(pod), container, streams)
    return undefined
  }
  const outputs = { stdout: isTrue(query.get('stdout')), stderr: isTrue(query.get('stderr')) }
  const conversation = wantsSpdy(context)
    ? createSpdyCommandConversation(spdyOf(streams), { ...request, ...outputs }, run)
    : createCommandConversation(request, run)
  return { status: 101, headers: {}, conversation }
}

/** `pods/portforward`. */
export async function forwardPort(
  streams: PodStreamPorts,
  context: ResourceContext,
  endpoint: Endpoint,
): Promise<WireResponse> {
  await beginConnect(streams, context, endpoint)
  const pod = await readPod(streams, context, endpoint)
  checkHost(pod)
  const nodes = ownNodeOf(streams, pod)
  requireUpgrade(context)
  const ports = context.query.getAll('ports').flatMap(text => text.split(',').map(Number))
  if (!nodes) {
    const { namespace, name } = addressOf(pod)
    return await upgradeToKubelet(streams, context.request, {
      node: nodeOf(pod),
      path: `/portForward/${namespace}/${name}`,
      query: { port: ports.length > 0 ? ports.join(',') : undefined },
    })
  }
  const dial = (port: number) => nodes.dial(addressOf(pod), port)
  const isTunnel = /(?:^|[\s,])SPDY\/3\.1\+/.test(
    getHeader(context.request.headers, 'sec-websocket-protocol') ?? '',
  )
  const conversation =
    isTunnel || wantsSpdy(context)
      ? createSpdyPortConversation(spdyOf(streams), dial)
      : createPortConversation(ports, dial)
  return { status: 101, headers: {}, conversation }
}

/**
 * Checks authorization and admission for a connection. A WebSocket begins with a GET, which read-only roles allow; it
 * opens a `create`, and must be authorized as one.
 */
async function beginConnect(
  { admission, authorizer }: PodStreamPorts,
  context: ResourceContext,
  endpoint: Endpoint,
): Promise<void> {
  const { user, info, query } = context
  if (query.has('dryRun')) throw newBadRequest('dryRun is not supported')
  await admitConnect({ admission, context, endpoint }, connectOptions(context))
  if (info.verb === 'create') return
  await authorizeCreate(authorizer, { user, info })
}

/** The connection to the Pod's node when it is one of ours. Throws a 404 when the node does not exist. */
function ownNodeOf(streams: PodStreamPorts, pod: JsonObject): NodeConnection | undefined {
  const name = nodeOf(pod)
  getNode(streams, name, 'pods')
  return streams.nodes?.hasNode(name) ? streams.nodes : undefined
}

const isTrue = (text: string | undefined): boolean => text === 'true' || text === '1'

const wantsSpdy = ({ request }: ResourceContext): boolean =>
  /^spdy\/3\.1$/i.test(getHeader(request.headers, 'upgrade') ?? '')

function spdyOf({ acceptSpdy }: PodStreamPorts): AcceptSpdy {
  if (acceptSpdy) return acceptSpdy
  throw newBadRequest('this server does not support SPDY')
}

/** Milliseconds since the epoch. */
function sinceOf({ env }: PodStreamPorts, { query }: ResourceContext): number | undefined {
  const seconds = readInteger(query, 'sinceSeconds')
  if (seconds !== undefined) return env.clock.now() - seconds * 1000
  const time = query.get('sinceTime') ?? ''
  if (time === '' || time === 'null') return undefined
  try {
    return parseTime(time).milliseconds
  } catch (error) {
    throw isMachineryError(error) ? newBadRequest(error.message) : error
  }
}

function addressOf(pod: JsonObject): PodAddress {
  const { namespace, name } = objectOf(pod.metadata)
  return { namespace: textOf(namespace), name: textOf(name) }
}

function requireUpgrade({ request }: ResourceContext): void {
  if (getHeader(request.headers, 'upgrade') === undefined) throw newBadRequest('Upgrade request required')
}

async function readPod(
  { reader }: PodStreamPorts,
  context: ResourceContext,
  endpoint: Endpoint,
): Promise<JsonObject> {
  return (await reader.getFresh(context, endpoint)).parse()
}

const nodeOf = (pod: JsonObject): string => textOf(objectOf(pod.spec).nodeName)
const nameOf = (pod: JsonObject): string => textOf(objectOf(pod.metadata).name)

/** The requested container, or the Pod's only one. Throws a 400 when there is no such container. */
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
