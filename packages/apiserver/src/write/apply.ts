import { isMachineryError } from '@coxswain/apimachinery/errors'
import * as field from '@coxswain/apimachinery/field'
import { isObject, type JsonObject } from '@coxswain/apimachinery/json'
import {
  newBadRequest,
  newConflict,
  newInvalid,
  newRequestEntityTooLarge,
} from '@coxswain/apimachinery/status'
import { readYaml } from '@coxswain/apimachinery/yaml'
import type { WireResponse } from '@coxswain/wire'
import { View } from '../read/view.ts'
import type { Endpoint } from '../registry/registry.ts'
import { apiVersionOf, objectKey } from '../registry/served-resource.ts'
import type { ResourceContext } from '../request/context.ts'
import { isTrue } from '../request/request-info.ts'
import { parseWriteOptions, type WriteOptions } from '../request/write-options.ts'
import { bytesOf } from './body.ts'
import { createObject } from './create.ts'
import { guaranteedUpdate } from './guaranteed-update.ts'
import { receiveObject, splitYamlProblem } from './incoming.ts'
import { metadataOf, placeInNamespace } from './lifecycle.ts'
import { fieldManagerOf } from './managed-fields.ts'
import { changeObject, checkName, checkVersion } from './update.ts'

/** Server-side apply: the body is what the manager wants, and all it wants. */
export async function handleApply(context: ResourceContext, endpoint: Endpoint): Promise<WireResponse> {
  const { state, info } = context
  const { resource } = endpoint
  const view = new View(context, endpoint)
  const options = parseWriteOptions(context, 'PatchOptions', true)
  requireManager(options)
  const manager = fieldManagerOf(state, endpoint)
  const { patch, problems } = readConfiguration(context, endpoint)
  const request = {
    patch,
    manager: options.fieldManager,
    force: isTrue(context.query.get('force')),
    subresource: info.subresource,
  }
  const written = { ...options, applied: true }

  await state.cache.fresh()
  if (!resource.cache.get(objectKey(resource, info.namespace, info.name)) && info.subresource === '') {
    const { uid } = metadataOf(patch)
    if (uid) {
      const detail = `uid mismatch: the provided object specified uid ${uid}, and no existing object was found`
      throw newConflict(resource.info, info.name, detail)
    }
    const applied = manager.apply({ ...request, live: undefined })
    reportRepeated(context, problems, options)
    const object = receiveObject(
      context,
      endpoint,
      { object: applied as JsonObject, duplicates: [] },
      options,
    )
    return view.object(201, await createObject(context, endpoint, object, written))
  }
  const result = await guaranteedUpdate(state, {
    endpoint,
    namespace: info.namespace,
    name: info.name,
    dryRun: options.dryRun,
    conditional: () => metadataOf(patch).resourceVersion !== undefined,
    change: current => {
      checkVersion(resource.info, current, metadataOf(patch).resourceVersion)
      const applied = manager.apply({ ...request, live: current })
      reportRepeated(context, problems, options)
      const object = receiveObject(
        context,
        endpoint,
        { object: applied as JsonObject, duplicates: [] },
        options,
      )
      placeInNamespace(resource, object, info.namespace)
      return changeObject(context, endpoint, object, current, written)
    },
  })
  return view.object(200, result)
}

/** Who applies has to say who it is. Throws a 422. */
export function requireManager({ namedManager }: WriteOptions): void {
  if (namedManager) return
  throw newInvalid({ group: 'meta.k8s.io', kind: 'PatchOptions' }, '', [
    field.required(field.Path.of('fieldManager'), 'is required for apply patch'),
  ])
}

/** Keys that stand in the configuration twice are a mistake that strict field validation rejects. */
function reportRepeated(
  context: ResourceContext,
  problems: readonly string[],
  { fieldValidation }: WriteOptions,
): void {
  if (fieldValidation === 'Ignore') return
  for (const problem of problems) {
    if (fieldValidation === 'Strict')
      throw newBadRequest(`error strict decoding YAML: error converting YAML to JSON: ${problem}`)
    context.warnings.pushAll(splitYamlProblem(problem))
  }
}

interface Configuration {
  readonly patch: JsonObject
  /** What strict decoding has against its text. */
  readonly problems: readonly string[]
}

/** The body as an object of the endpoint's kind and the path's name. */
function readConfiguration(context: ResourceContext, { resource, version }: Endpoint): Configuration {
  let patch: unknown
  let problems: readonly string[]
  try {
    const document = readYaml(bytesOf(context))
    patch = document?.value
    problems = [...(context.yamlProblems ?? []), ...(document?.problems ?? [])]
  } catch (error) {
    if (isMachineryError(error, 'JsonTooLarge')) throw newRequestEntityTooLarge(error.message)
    if (isMachineryError(error)) throw newBadRequest(`error decoding YAML: ${error.message}`)
    throw error
  }
  if (!isObject(patch)) throw newBadRequest('error decoding YAML: the body is not an object')
  const expected = apiVersionOf(resource.info.group, version.name)
  if (patch.apiVersion !== expected || patch.kind !== resource.info.kind) {
    const given = String(patch.apiVersion ?? '')
    const qualified = given.includes('/') ? given : `/${given}`
    throw newBadRequest(`invalid object type: ${qualified}, Kind=${String(patch.kind ?? '')}`)
  }
  if (!isObject(patch.metadata)) patch.metadata = {}
  const metadata = metadataOf(patch)
  metadata.name ??= context.info.name
  checkName(context, metadata.name)
  placeInNamespace(resource, patch, context.info.namespace)
  return { patch, problems }
}
