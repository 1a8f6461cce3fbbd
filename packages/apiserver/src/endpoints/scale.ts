import { builtinSchema, decodeBuiltin } from '@coxswain/api'
import { createFieldManager, type FieldManager } from '@coxswain/apimachinery/apply'
import { isMachineryError } from '@coxswain/apimachinery/errors'
import * as field from '@coxswain/apimachinery/field'
import { childObject, deepClone, isObject, type JsonObject } from '@coxswain/apimachinery/json'
import type { PrinterColumn } from '@coxswain/apimachinery/kinds'
import type { ManagedFieldsEntry } from '@coxswain/apimachinery/meta'
import type { Schema } from '@coxswain/apimachinery/schema'
import { labelSelectorAsSelector } from '@coxswain/apimachinery/selectors'
import { newBadRequest, newConflict, newInvalid, optimisticLockMessage } from '@coxswain/apimachinery/status'
import { formatAge, formatTime } from '@coxswain/apimachinery/time'
import { readYaml } from '@coxswain/apimachinery/yaml'
import type { WireResponse } from '@coxswain/wire'
import { createAttributes, writeOptionsObject } from '../admission/create-attributes.ts'
import { StoredObject } from '../cache/stored-object.ts'
import { freshen, getStored } from '../read/read.ts'
import { View } from '../read/view.ts'
import { parseServed, serveOne } from '../registry/convert.ts'
import type { Endpoint } from '../registry/registry.ts'
import { apiVersionOf } from '../registry/served-resource.ts'
import type { ResourceContext } from '../request/context.ts'
import { isTrue } from '../request/request-info.ts'
import { parseWriteOptions, type WriteOptions } from '../request/write-options.ts'
import { requireManager } from '../write/apply.ts'
import { bytesOf, readBody } from '../write/body.ts'
import { guaranteedUpdate } from '../write/guaranteed-update.ts'
import { metadataOf } from '../write/lifecycle.ts'
import { isApplyPatch, patchValue } from '../write/patch.ts'
import { changeObject, checkUid } from '../write/update.ts'
import { managersOfParent, managersOfScale, type ReplicasPaths } from './scale-managers.ts'

/** Where a kind keeps what a Scale shows. */
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

const scaleKind = { group: 'autoscaling', version: 'v1', kind: 'Scale' }
const scaleVersion = 'autoscaling/v1'

const scaleColumns: readonly PrinterColumn[] = [
  { name: 'Name', type: 'string', priority: 0 },
  { name: 'Desired', type: 'integer', priority: 0 },
  { name: 'Available', type: 'integer', priority: 0 },
  { name: 'Age', type: 'string', priority: 0 },
]

/** Custom resources print theirs with another printer. */
const customScaleColumns: readonly PrinterColumn[] = scaleColumns.map(column =>
  column.name === 'Name'
    ? { ...column, format: 'name' }
    : column.name === 'Age'
      ? { ...column, type: 'date' }
      : column,
)

/** The endpoint of a kind's scale, for showing it: its answers are Scales, whatever the kind is. */
function scaleEndpoint({ resource, version }: Endpoint): Endpoint {
  const cells = (scale: JsonObject, now: number) => {
    const { name, creationTimestamp } = metadataOf(scale)
    const { replicas } = (scale.spec ?? {}) as { replicas?: number }
    const status = scale.status as { replicas?: number }
    return [name, replicas ?? 0, status.replicas ?? 0, formatAge(creationTimestamp, now)]
  }
  const { group, kind, version: name } = scaleKind
  const shown = { ...version, name, columns: resource.custom ? customScaleColumns : scaleColumns }
  const info = { ...resource.info, group, kind }
  return {
    resource: { ...resource, info, custom: false, storageVersion: shown, strategy: { cells } },
    version: shown,
  }
}

/** `scale` of workloads and of custom resources that have one: an autoscaling/v1 Scale. */
export async function handleScale(context: ResourceContext, endpoint: Endpoint): Promise<WireResponse> {
  const { info } = context
  const view = new View(context, scaleEndpoint(endpoint))
  const paths = pathsOf(endpoint)
  if (info.verb === 'get') {
    await freshen(context, '', 0)
    const object = await parseServed(endpoint, getStored(context, endpoint))
    return view.object(200, toScale(paths, object))
  }
  const isApply = isApplyPatch(context)
  const kind = info.verb === 'patch' ? 'PatchOptions' : 'UpdateOptions'
  const options = parseWriteOptions(context, kind, isApply)
  const write = isApply ? applyScale(context, options) : updateScale(context, endpoint, options)
  const replicasPaths = replicasPathsOf(endpoint)
  const result = await guaranteedUpdate(context.state, {
    endpoint,
    namespace: info.namespace,
    name: info.name,
    dryRun: options.dryRun,
    // A version that the client named is compared on every attempt; a patch that names none takes the present one.
    conditional: () => false,
    change: async current => {
      const object = deepClone(current) as JsonObject
      const entries = (metadataOf(object).managedFields ?? []) as ManagedFieldsEntry[]
      const live = toScale(paths, object)
      metadataOf(live).managedFields = managersOfScale(entries, replicasPaths)
      const scale = write(live)
      const admitted = (next: JsonObject) =>
        createAttributes(context, endpoint, {
          operation: 'UPDATE',
          kind: scaleKind,
          object: next,
          oldObject: toScale(paths, current),
          dryRun: options.dryRun,
          options: writeOptionsObject(context, 'UpdateOptions'),
        })
      await context.state.admission.mutate(admitted(scale))
      checkScale(context, endpoint, scale)
      const { resourceVersion, uid, managedFields } = metadataOf(scale)
      if (resourceVersion && resourceVersion !== metadataOf(current).resourceVersion) {
        throw newConflict(endpoint.resource.info, info.name, optimisticLockMessage)
      }
      checkUid(endpoint, current, uid)
      const replicas = isObject(scale.spec) ? (scale.spec.replicas ?? 0) : 0
      setPath(object, paths.specReplicas, replicas)
      metadataOf(object).managedFields = managersOfParent(
        entries,
        (managedFields ?? []) as ManagedFieldsEntry[],
        replicasPaths,
      )
      const main = { ...context, info: { ...info, subresource: '' } }
      return await changeObject(main, endpoint, object, current, {
        ...options,
        applied: true,
        admittedAs: next => admitted(toScale(paths, next)),
      })
    },
  })
  const object = result instanceof StoredObject ? result.parse() : result
  return view.object(200, toScale(paths, await serveOne(endpoint, object)))
}

/** Makes the Scale that the client wishes for out of the present one, with the managers it then has. */
type ScaleWrite = (live: JsonObject) => JsonObject

function updateScale(context: ResourceContext, endpoint: Endpoint, options: WriteOptions): ScaleWrite {
  const patch = context.info.verb === 'patch' ? patchValue(context, endpoint, scaleSchema()) : undefined
  return live => {
    const wish = patch
      ? patch(live)
      : readBody(context, false, { apiVersion: scaleVersion, kind: 'Scale' }).object
    const next = decodeScale(endpoint, wish)
    const { fieldManager: manager } = options
    return scaleManager(context).update({ live, next, manager, subresource: 'scale' }) as JsonObject
  }
}

/** Throws a 400 when it is no Scale. */
function decodeScale({ resource }: Endpoint, wish: JsonObject): JsonObject {
  const { kind, apiVersion } = { kind: wish.kind ?? 'Scale', apiVersion: wish.apiVersion ?? scaleVersion }
  try {
    if (!resource.custom || (kind === 'Scale' && apiVersion === scaleVersion)) {
      return decodeBuiltin(scaleKind, { ...wish, apiVersion: scaleVersion, kind: 'Scale' }).object
    }
  } catch (error) {
    if (!isMachineryError(error)) throw error
    if (!resource.custom)
      throw newBadRequest(`Scale in version "v1" cannot be handled as a Scale: ${error.message}`)
  }
  throw newBadRequest('no kind is registered for the type v1.Scale in scheme "pkg/runtime/scheme.go:111"')
}

function applyScale(context: ResourceContext, options: WriteOptions): ScaleWrite {
  requireManager(options)
  const { value: patch } = readYaml(bytesOf(context)) ?? {}
  if (!isObject(patch)) throw newBadRequest('error decoding YAML: the body is not an object')
  const force = isTrue(context.query.get('force'))
  return live =>
    scaleManager(context).apply({
      live,
      patch,
      manager: options.fieldManager,
      force,
      subresource: 'scale',
    }) as JsonObject
}

const scaleSchema = (): Schema => builtinSchema('io.k8s.api.autoscaling.v1.Scale')!

function scaleManager({ state }: ResourceContext): FieldManager {
  return createFieldManager({
    apiVersion: scaleVersion,
    kind: 'Scale',
    schema: scaleSchema(),
    resetFields: () => ({ reset: ['status'] }),
    now: () => formatTime(state.env.clock.now()),
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

function checkScale({ info }: ResourceContext, { resource }: Endpoint, scale: JsonObject): void {
  const { name } = metadataOf(scale) ?? {}
  if (name !== undefined && name !== info.name) {
    throw newBadRequest(`the name of the object (${name}) does not match the name on the URL (${info.name})`)
  }
  const replicas = isObject(scale.spec) ? scale.spec.replicas : 0
  // What a custom resource takes is for its own validation to say.
  if (!resource.custom && typeof replicas === 'number' && replicas < 0) {
    const error = field.invalid(
      field.Path.of('spec', 'replicas'),
      replicas,
      'must be greater than or equal to 0',
    )
    throw newInvalid({ group: 'autoscaling', kind: 'Scale' }, info.name, [error])
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

/** A selector as text: status paths of custom resources hold one already, replication controllers have plain labels. */
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
