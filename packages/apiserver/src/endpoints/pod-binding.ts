import { decodeBuiltin } from '@coxswain/api'
import * as field from '@coxswain/apimachinery/field'
import { childObject, type JsonObject } from '@coxswain/apimachinery/json'
import {
  newBadRequest,
  newConflict,
  newInvalid,
  type StatusError,
  successStatus,
} from '@coxswain/apimachinery/status'
import { formatTime } from '@coxswain/apimachinery/time'
import { setPodCondition } from '@coxswain/kinds'
import { getHeader, type WireResponse } from '@coxswain/wire'
import { builtinBodies } from '../registry/builtin-conventions.ts'
import type { Endpoint, Registry } from '../registry/registry.ts'
import type { ResourceContext } from '../request/context.ts'
import { statusResponse } from '../request/response.ts'
import { parseWriteOptions } from '../request/write-options.ts'
import { readBody } from '../write/body.ts'
import { storageConflict } from '../write/checks.ts'
import { guaranteedUpdate } from '../write/guaranteed-update.ts'
import { metadataOf } from '../write/metadata.ts'
import { runSteps, type Step, steps } from '../write/pipeline.ts'
import type { WritePorts } from '../write/ports.ts'
import { createPart, createWrite, type Write } from '../write/write.ts'

const bindingKind = { group: '', version: 'v1', kind: 'Binding' }
const bindingResource = { group: '', resource: 'pods/binding' }

/** What bindings need of the server. */
export interface BindingPorts extends WritePorts {
  readonly registry: Registry
}

const bindingSteps: readonly Step<Write>[] = [steps.mutate, steps.admit]

/** `pods/binding`: assigns a Pod to a node, once. */
export async function bindPod(
  ports: BindingPorts,
  context: ResourceContext,
  endpoint: Endpoint,
): Promise<WireResponse> {
  const binding = readBinding(context)
  if (metadataOf(binding).name !== context.info.name)
    throw newBadRequest('name in URL does not match name in Binding object')
  return await assign(ports, binding, { context, endpoint })
}

/** `bindings`: the legacy form, where only the Binding names its Pod. */
export async function createBinding(
  ports: BindingPorts,
  context: ResourceContext,
  endpoint: Endpoint,
): Promise<WireResponse> {
  return await assign(ports, readBinding(context), { context, endpoint })
}

function readBinding(context: ResourceContext): JsonObject {
  const { object, literals } = readBody(context, builtinBodies, { apiVersion: 'v1', kind: 'Binding' })
  return decodeBuiltin(bindingKind, object, { literals }).object
}

async function assign(
  ports: BindingPorts,
  binding: JsonObject,
  { context, endpoint }: { readonly context: ResourceContext; readonly endpoint: Endpoint },
): Promise<WireResponse> {
  const pods = ports.registry.find('', 'v1', 'pods')!
  const { name = '' } = metadataOf(binding)
  const options = parseWriteOptions(context, 'CreateOptions')
  const part = createPart(bindingKind, binding, name)
  await runSteps(bindingSteps, createWrite(ports, { context, endpoint, options, operation: 'CREATE', part }))
  const { uid, resourceVersion, annotations = {}, labels = {} } = metadataOf(binding)
  const target = (binding.target ?? {}) as { kind?: string; name?: string }
  checkTarget(name, target)
  await guaranteedUpdate(ports, {
    endpoint: pods,
    namespace: context.info.namespace,
    name,
    dryRun: options.dryRun,
    conditional: () => Boolean(resourceVersion),
    change: async pod => {
      checkPrecondition(pods, pod, { what: 'UID', wanted: uid })
      checkPrecondition(pods, pod, { what: 'ResourceVersion', wanted: resourceVersion })
      checkAssignable(pod)
      childObject(pod, 'spec').nodeName = target.name
      const metadata = metadataOf(pod)
      if (Object.keys(annotations).length > 0)
        metadata.annotations = { ...metadata.annotations, ...annotations }
      if (Object.keys(labels).length > 0) metadata.labels = { ...metadata.labels, ...labels }
      const status = childObject(pod, 'status')
      delete status.nominatedNodeName
      const now = formatTime(ports.env.clock.now())
      setPodCondition(status, { type: 'PodScheduled', status: 'True' }, now)
      return { type: 'put', object: pod }
    },
  })
  return statusResponse(successStatus(undefined, 201), getHeader(context.request.headers, 'accept'))
}

/** Upstream answers these client errors with a 500. */
function checkTarget(name: string, target: { readonly kind?: string; readonly name?: string }): void {
  const errors = []
  if (target.kind && target.kind !== 'Node')
    errors.push(field.notSupported(field.Path.of('target', 'kind'), target.kind, ['Node', '<empty>']))
  if (!target.name) errors.push(field.required(field.Path.of('target', 'name')))
  if (errors.length > 0) throw newInvalid(bindingKind, name, errors)
}

function checkPrecondition(
  endpoint: Endpoint,
  pod: JsonObject,
  { what, wanted }: { readonly what: 'UID' | 'ResourceVersion'; readonly wanted: string | undefined },
): void {
  const { uid = '', resourceVersion = '' } = metadataOf(pod)
  const found = what === 'UID' ? uid : resourceVersion
  if (!wanted || wanted === found) return
  const detail = `Precondition failed: ${what} in precondition: ${wanted}, ${what} in object meta: ${found}`
  throw storageConflict(endpoint, pod, detail)
}

function checkAssignable(pod: JsonObject): void {
  const { name = '', deletionTimestamp } = metadataOf(pod)
  const spec = childObject(pod, 'spec')
  const refuse = (detail: string): StatusError => newConflict(bindingResource, name, detail)
  if (deletionTimestamp) throw refuse(`pod ${name} is being deleted, cannot be assigned to a host`)
  if (spec.nodeName) throw refuse(`pod ${name} is already assigned to node ${JSON.stringify(spec.nodeName)}`)
  if (Array.isArray(spec.schedulingGates) && spec.schedulingGates.length > 0)
    throw refuse(`pod ${name} has non-empty .spec.schedulingGates`)
}
