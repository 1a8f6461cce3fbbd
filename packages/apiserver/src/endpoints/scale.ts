import { builtinSchema } from '@coxswain/api'
import { createFieldManager, type FieldManager } from '@coxswain/apimachinery/apply'
import * as field from '@coxswain/apimachinery/field'
import { childObject, deepClone, isObject, type JsonObject } from '@coxswain/apimachinery/json'
import type { ManagedFieldsEntry } from '@coxswain/apimachinery/meta'
import type { Schema } from '@coxswain/apimachinery/schema'
import { labelSelectorAsSelector } from '@coxswain/apimachinery/selectors'
import { newBadRequest, newInvalid } from '@coxswain/apimachinery/status'
import { formatAge, formatTime } from '@coxswain/apimachinery/time'
import { readYaml } from '@coxswain/apimachinery/yaml'
import { StoredObject } from '../cache/stored-object.ts'
import { builtinBodies, createBuiltinConventions } from '../registry/builtin-conventions.ts'
import { parseServed, serveOne } from '../registry/convert.ts'
import { apiVersionOf, type Endpoint, type Registry } from '../registry/registry.ts'
import { scaleKind, scaleVersion } from '../registry/scale-conventions.ts'
import type { ResourceContext } from '../request/context.ts'
import { isTrue } from '../request/request-info.ts'
import { parseWriteOptions, type WriteOptions } from '../request/write-options.ts'
import { requireManager } from '../write/apply.ts'
import { bytesOf, readBody } from '../write/body.ts'
import { changeStored } from '../write/change-stored.ts'
import { metadataOf } from '../write/metadata.ts'
import { isApplyPatch, patchValue } from '../write/patch.ts'
import type { Step } from '../write/pipeline.ts'
import { changedObject, steps } from '../write/pipeline.ts'
import type { WritePorts } from '../write/ports.ts'
import { createWrite, type Part, type Write } from '../write/write.ts'
import type { EndpointHandler } from './endpoint-handler.ts'
import { managersOfParent, managersOfScale, type ReplicasPaths } from './scale-managers.ts'

/** Where a kind has the fields that a Scale shows. */
export interface ScalePaths {
  readonly specReplicas: readonly string[]
  readonly statusReplicas: readonly string[]
  /** A string, or a label selector; empty when the kind has none. */
  readonly selector: readonly string[]
}

const workload: ScalePaths = {
  specReplicas: ['spec', 'replicas'],
  statusReplicas: ['status', 'replicas'],
  selector: ['spec', 'selector'],
}

function pathsOf({ version }: Endpoint): ScalePaths {
  const scale = version.scale
  if (!scale) return workload
  const split = (path: string) => path.split('.').filter(Boolean)
  return {
    specReplicas: split(scale.specReplicasPath),
    statusReplicas: split(scale.statusReplicasPath),
    selector: split(scale.labelSelectorPath ?? ''),
  }
}

/** What the endpoint `scale` needs of the server. */
export interface ScalePorts extends WritePorts {
  readonly registry: Registry
}

/** A write of an object through its Scale. */
interface ScaleWrite extends Write {
  readonly part: Part
  readonly paths: ScalePaths
  readonly replicasPaths: ReplicasPaths
  /** Returns the new Scale, given the present one, with the managers it then has. */
  readonly writeScale: (live: JsonObject) => JsonObject
}

/** Run with the present object, and again from the start when a concurrent write changed it. */
export const scaleSteps: readonly Step<ScaleWrite>[] = [
  { name: 'change scale', run: changeScale },
  steps.mutate,
  { name: 'check scale', run: checkScale },
  steps.checkVersion,
  steps.checkUid,
  { name: 'set replicas', run: setReplicas },
  steps.dedupeOwners,
  steps.applyDefaults,
  ...changedObject,
  { name: 'show scale', run: showScale },
  steps.admit,
]

/** `scale` of workloads and of custom resources with a scale subresource: an autoscaling/v1 Scale. */
export function createScaleHandler(ports: ScalePorts): EndpointHandler {
  const shown = new WeakMap<Endpoint, Endpoint>()
  const manager = createScaleManager(ports)
  return async (context, endpoint) => {
    let scaleEndpoint = shown.get(endpoint)
    if (!scaleEndpoint) {
      scaleEndpoint = createScaleEndpoint(endpoint, ports.registry)
      shown.set(endpoint, scaleEndpoint)
    }
    const view = ports.reader.view(context, scaleEndpoint)
    const paths = pathsOf(endpoint)
    if (context.info.verb === 'get') {
      const object = await parseServed(endpoint, await ports.reader.getFresh(context, endpoint))
      return view.object(200, toScale(paths, object))
    }
    const isApply = isApplyPatch(context)
    const patchKind = isApply ? 'ApplyOptions' : 'PatchOptions'
    const options = parseWriteOptions(context, context.info.verb === 'patch' ? patchKind : 'UpdateOptions')
    const request = { context, endpoint, options, manager }
    const write: ScaleWrite = {
      ...createWrite(ports, { context, endpoint, options, operation: 'UPDATE', subresource: '' }),
      part: { kind: scaleKind, object: {} },
      paths,
      replicasPaths: replicasPathsOf(endpoint),
      writeScale: isApply ? applyScale(request) : updateScale(request),
    }
    const result = await changeStored(write, scaleSteps)
    const object = result instanceof StoredObject ? result.parse() : result
    return view.object(200, toScale(paths, await serveOne(endpoint, object)))
  }
}

/** The endpoint of a kind's scale, for responses: those are Scales, whatever the kind is. */
function createScaleEndpoint({ resource, version }: Endpoint, scheme: Registry): Endpoint {
  const cells = (scale: JsonObject, now: number) => {
    const { name, creationTimestamp } = metadataOf(scale)
    const { replicas } = (scale.spec ?? {}) as { replicas?: number }
    const status = scale.status as { replicas?: number }
    return {
      Name: name,
      Desired: replicas ?? 0,
      Available: status.replicas ?? 0,
      Age: formatAge(creationTimestamp, now),
    }
  }
  const { group, kind, version: name } = scaleKind
  const shown = { ...version, name, columns: resource.scale.columns }
  const info = { ...resource.info, group, kind }
  const strategy = { cells }
  const conventions = createBuiltinConventions({ info, strategy, scheme })
  return { resource: { ...resource, ...conventions, info, storageVersion: shown, strategy }, version: shown }
}

/** The requested Scale; admission sees it and the present one. */
function changeScale(write: ScaleWrite): void {
  const { old, part, paths, replicasPaths } = write
  const live = toScale(paths, old!)
  const entries = (metadataOf(old!).managedFields ?? []) as ManagedFieldsEntry[]
  metadataOf(live).managedFields = managersOfScale(entries, replicasPaths)
  part.object = write.writeScale(live)
  part.oldObject = toScale(paths, old!)
}

/** Throws a 400 or 422 when it is not a Scale of the object. */
function checkScale(write: ScaleWrite): void {
  const { context, endpoint, part } = write
  const scale = part.object
  const { name, resourceVersion, uid } = metadataOf(scale) ?? {}
  const { name: expected } = context.info
  if (name !== undefined && name !== expected) {
    throw newBadRequest(`the name of the object (${name}) does not match the name on the URL (${expected})`)
  }
  const replicas = isObject(scale.spec) ? scale.spec.replicas : 0
  if (endpoint.resource.scale.rejectsNegative && typeof replicas === 'number' && replicas < 0) {
    const path = field.Path.of('spec', 'replicas')
    const error = field.invalid(path, replicas, 'must be greater than or equal to 0')
    throw newInvalid({ group: 'autoscaling', kind: 'Scale' }, expected, [error])
  }
  write.expected = { resourceVersion, uid }
}

/** The object with the Scale's replicas, and its managers. */
function setReplicas(write: ScaleWrite): void {
  const { old, part, paths, replicasPaths } = write
  const scale = part.object
  const object = deepClone(old!) as JsonObject
  const metadata = metadataOf(object)
  setPath(object, paths.specReplicas, isObject(scale.spec) ? (scale.spec.replicas ?? 0) : 0)
  metadata.managedFields = managersOfParent(
    (metadata.managedFields ?? []) as ManagedFieldsEntry[],
    (metadataOf(scale).managedFields ?? []) as ManagedFieldsEntry[],
    replicasPaths,
  )
  write.object = object
}

/** Validating admission sees the Scale of the object about to be stored. */
function showScale(write: ScaleWrite): void {
  write.part.object = toScale(write.paths, write.object)
  write.attributes = write.describe(write)
}

interface ScaleRequest {
  readonly context: ResourceContext
  readonly endpoint: Endpoint
  readonly options: WriteOptions
  readonly manager: FieldManager
}

function updateScale({ context, endpoint, options, manager }: ScaleRequest): ScaleWrite['writeScale'] {
  const patch = context.info.verb === 'patch' ? patchValue(context, endpoint, scaleSchema()) : undefined
  return live => {
    const body = patch
      ? patch(live)
      : readBody(context, builtinBodies, { apiVersion: scaleVersion, kind: 'Scale' }).object
    const next = endpoint.resource.scale.decode(body)
    const { fieldManager } = options
    return manager.update({ live, next, manager: fieldManager, subresource: 'scale' }) as JsonObject
  }
}

function applyScale({ context, options, manager }: ScaleRequest): ScaleWrite['writeScale'] {
  requireManager(options)
  const { value: patch } = readYaml(bytesOf(context)) ?? {}
  if (!isObject(patch)) throw newBadRequest('error decoding YAML: the body is not an object')
  const request = {
    patch,
    manager: options.fieldManager,
    force: isTrue(context.query.get('force')),
    subresource: 'scale',
  }
  return live => manager.apply({ ...request, live }) as JsonObject
}

const scaleSchema = (): Schema => builtinSchema('io.k8s.api.autoscaling.v1.Scale')!

function createScaleManager({ env }: ScalePorts): FieldManager {
  return createFieldManager({
    apiVersion: scaleVersion,
    kind: 'Scale',
    schema: scaleSchema(),
    resetFields: () => ({ reset: ['status'] }),
    now: () => formatTime(env.clock.now()),
  })
}

function replicasPathsOf({ resource, version }: Endpoint): ReplicasPaths {
  const { group, versions } = resource.info
  return {
    apiVersion: apiVersionOf(group, version.name),
    paths: new Map(
      versions.map(candidate => [
        apiVersionOf(group, candidate.name),
        pathsOf({ resource, version: candidate }).specReplicas,
      ]),
    ),
  }
}

function toScale(paths: ScalePaths, object: JsonObject): JsonObject {
  const { name, namespace, uid, resourceVersion, creationTimestamp } = metadataOf(object)
  const replicas = getPath(object, paths.specReplicas)
  const selector = formatSelector(getPath(object, paths.selector))
  return {
    kind: 'Scale',
    apiVersion: 'autoscaling/v1',
    metadata: { name, namespace, uid, resourceVersion, creationTimestamp },
    spec: replicas ? { replicas } : {},
    status: { replicas: getPath(object, paths.statusReplicas) ?? 0, ...(selector !== '' && { selector }) },
  }
}

/** A selector as text: status paths of custom resources already have one, ReplicationControllers have plain labels. */
function formatSelector(selector: unknown): string {
  if (typeof selector === 'string') return selector
  if (!isObject(selector)) return ''
  const isPlain = !('matchLabels' in selector) && !('matchExpressions' in selector)
  return labelSelectorAsSelector(
    isPlain ? { matchLabels: selector as Record<string, string> } : selector,
  ).toString()
}

function getPath(object: JsonObject, path: readonly string[]): unknown {
  if (path.length === 0) return undefined
  let value: unknown = object
  for (const name of path) value = isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined
  return value
}

function setPath(object: JsonObject, path: readonly string[], value: unknown): void {
  let parent = object
  for (const name of path.slice(0, -1)) parent = childObject(parent, name)
  parent[path.at(-1)!] = value
}
