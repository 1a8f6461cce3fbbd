import {
  field,
  newBadRequest,
  newInvalid,
  newNotFound,
  newUnknownError,
  parseIP,
  StatusError,
} from '@coxswain/apimachinery'
import type { WireResponse } from '@coxswain/wire'
import { admitConnect } from '../admission/admit-part.ts'
import { connectOptions } from '../admission/connect-options.ts'
import type { JsonObject } from '../json.ts'
import type { Endpoint } from '../registry/registry.ts'
import type { ResourceContext } from '../request/context.ts'
import { readInteger } from '../request/query.ts'
import { listOf, objectOf, textOf } from '../strategies/pod/validation/reading.ts'
import { freshen, getStored } from './read.ts'

/** `pods/log`. A pod that no node runs has said nothing yet. */
export async function readLog(context: ResourceContext, endpoint: Endpoint): Promise<WireResponse> {
  checkLogOptions(context)
  const pod = await readPod(context, endpoint)
  chooseContainer(pod, context.query.get('container') ?? '')
  if (nodeOf(pod) === '') return { status: 204, headers: {}, body: new Uint8Array() }
  throw unreachable(context, pod)
}

/** `pods/exec` and `pods/attach`. */
export async function openTerminal(context: ResourceContext, endpoint: Endpoint): Promise<WireResponse> {
  await admitConnect(context, endpoint, connectOptions(context))
  const pod = await readPod(context, endpoint)
  chooseContainer(pod, context.query.get('container') ?? '')
  checkHost(pod)
  throw unreachable(context, pod)
}

/** `pods/portforward`. */
export async function forwardPort(context: ResourceContext, endpoint: Endpoint): Promise<WireResponse> {
  await admitConnect(context, endpoint, connectOptions(context))
  const pod = await readPod(context, endpoint)
  checkHost(pod)
  throw unreachable(context, pod)
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

/** Throws a 400 unless the pod has just one container, or the one that was asked for. */
function chooseContainer(pod: JsonObject, container: string): void {
  const spec = objectOf(pod.spec)
  const names = ['initContainers', 'containers', 'ephemeralContainers'].flatMap(kind =>
    listOf(spec[kind]).map(({ name }) => textOf(name)),
  )
  if (container !== '') {
    if (names.includes(container)) return
    throw newBadRequest(`container ${container} is not valid for pod ${nameOf(pod)}`)
  }
  const count = listOf(spec.containers).length
  if (count === 1) return
  const choice = count === 0 ? '' : `, choose one of: [${names.join(' ')}]`
  throw newBadRequest(`a container name must be specified for pod ${nameOf(pod)}${choice}`)
}

function checkHost(pod: JsonObject): void {
  if (nodeOf(pod) === '') throw newBadRequest(`pod ${nameOf(pod)} does not have a host assigned`)
}

/** No kubelet is called from here: a node that exists cannot be reached, one that does not is not found. */
function unreachable({ state }: ResourceContext, pod: JsonObject): StatusError {
  const nodes = state.registry.find('', 'v1', 'nodes')!.resource
  const name = nodeOf(pod)
  if (!nodes.cache.get(nodes.cache.prefix + name)) return newNotFound(nodes.info, name)
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
