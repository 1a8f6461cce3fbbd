import {
  deepClone,
  field,
  labelSelectorAsSelector,
  newBadRequest,
  newConflict,
  newInvalid,
  optimisticLockMessage,
} from '@coxswain/apimachinery'
import type { WireResponse } from '@coxswain/wire'
import { StoredObject } from '../cache/stored-object.ts'
import { childObject, isObject, type JsonObject } from '../json.ts'
import { convertForServing } from '../registry/convert.ts'
import type { Endpoint } from '../registry/registry.ts'
import type { ResourceContext } from '../request/context.ts'
import { parseWriteOptions } from '../request/write-options.ts'
import { jsonResponse } from '../response.ts'
import { readBody } from './body.ts'
import { guaranteedUpdate } from './guaranteed-update.ts'
import { metadataOf } from './lifecycle.ts'
import { patchValue } from './patch.ts'
import { freshen, getStored } from './read.ts'
import { changeObject } from './update.ts'

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

/** `scale` of workloads and of custom resources that have one: an autoscaling/v1 Scale. */
export async function handleScale(context: ResourceContext, endpoint: Endpoint): Promise<WireResponse> {
  const { info } = context
  const paths = pathsOf(endpoint)
  if (info.verb === 'get') {
    await freshen(context, '', 0)
    return jsonResponse(
      200,
      toScale(paths, convertForServing(endpoint, getStored(context, endpoint).parse())),
    )
  }
  const options = parseWriteOptions(context, info.verb === 'patch' ? 'PatchOptions' : 'UpdateOptions')
  const wishFor =
    info.verb === 'patch'
      ? patchValue(context, endpoint, scaleSchema)
      : () => readBody(context, false, { apiVersion: 'autoscaling/v1', kind: 'Scale' }).object
  let versioned = false
  const result = await guaranteedUpdate(context.state, {
    endpoint,
    namespace: info.namespace,
    name: info.name,
    dryRun: options.dryRun,
    conditional: () => versioned,
    change: async current => {
      const object = deepClone(current)
      const wish = wishFor(toScale(paths, object))
      checkScale(context, wish)
      const { resourceVersion } = metadataOf(wish)
      versioned = Boolean(resourceVersion)
      if (resourceVersion && resourceVersion !== metadataOf(current).resourceVersion) {
        throw newConflict(endpoint.resource.info, info.name, optimisticLockMessage)
      }
      const replicas = isObject(wish.spec) ? (wish.spec.replicas ?? 0) : 0
      setPath(object, paths.specReplicas, replicas)
      const main = { ...context, info: { ...info, subresource: '' } }
      return await changeObject(main, endpoint, object, current, { ...options, subresource: 'scale' })
    },
  })
  const object = result instanceof StoredObject ? result.parse() : result
  return jsonResponse(200, toScale(paths, convertForServing(endpoint, object)))
}

const scaleSchema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } as const

function checkScale({ info }: ResourceContext, scale: JsonObject): void {
  const { name } = metadataOf(scale) ?? {}
  if (name !== undefined && name !== info.name) {
    throw newBadRequest(`the name of the object (${name}) does not match the name on the URL (${info.name})`)
  }
  const replicas = isObject(scale.spec) ? scale.spec.replicas : 0
  if (typeof replicas === 'number' && replicas < 0) {
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
