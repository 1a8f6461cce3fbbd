import { isMachineryError } from '@coxswain/apimachinery/errors'
import * as field from '@coxswain/apimachinery/field'
import { goPrint } from '@coxswain/apimachinery/go'
import { deepClone, isObject, type JsonObject, readJson } from '@coxswain/apimachinery/json'
import {
  applyJsonPatch,
  applyMergePatch,
  applyStrategicMergePatch,
  decodeJsonPatch,
  decodeMergePatch,
  decodeStrategicMergePatch,
  unknownJsonPatchFields,
} from '@coxswain/apimachinery/patch'
import type { Schema } from '@coxswain/apimachinery/schema'
import {
  isStatusError,
  newBadRequest,
  newInvalid,
  newRequestEntityTooLarge,
  newUnsupportedMediaType,
  StatusError,
} from '@coxswain/apimachinery/status'
import { getHeader, parseMediaType, type WireResponse } from '@coxswain/wire'
import { View } from '../read/view.ts'
import type { Endpoint } from '../registry/registry.ts'
import type { ResourceContext } from '../request/context.ts'
import { parseWriteOptions, type WriteOptions } from '../request/write-options.ts'
import { handleApply } from './apply.ts'
import { bytesOf } from './body.ts'
import { guaranteedUpdate } from './guaranteed-update.ts'
import { receiveObject } from './incoming.ts'
import { checkCustomType, metadataOf, placeInNamespace } from './lifecycle.ts'
import { patchedText } from './patched-text.ts'
import { changeObject, checkName, checkVersion } from './update.ts'

const jsonPatch = 'application/json-patch+json'
const mergePatch = 'application/merge-patch+json'
const strategicPatch = 'application/strategic-merge-patch+json'
const applyPatch = 'application/apply-patch+yaml'

/** A patch that has been read. */
interface Patch {
  /** Makes the patched object out of the present one. */
  readonly apply: (current: JsonObject) => unknown
  /** As sent. */
  readonly value: unknown
  /** What strict decoding has against the patch itself. */
  readonly problems: readonly string[]
}

export async function handlePatch(context: ResourceContext, endpoint: Endpoint): Promise<WireResponse> {
  const { resource } = endpoint
  const { type } = parseMediaType(getHeader(context.request.headers, 'content-type') ?? '')
  const types = resource.custom
    ? [jsonPatch, mergePatch, applyPatch]
    : [jsonPatch, mergePatch, strategicPatch, applyPatch]
  if (!types.includes(type)) throw unsupportedPatch(endpoint, types)
  if (type === applyPatch) return await handleApply(context, endpoint)

  const view = new View(context, endpoint)
  const options = parseWriteOptions(context, 'PatchOptions')
  const patch = compilePatch(endpoint.version.schema(), type, bytesOf(context))
  let versioned = false
  const result = await guaranteedUpdate(context.state, {
    endpoint,
    namespace: context.info.namespace,
    name: context.info.name,
    dryRun: options.dryRun,
    conditional: () => versioned,
    change: current => {
      const patched = runPatch(patch, current)
      const { rawMember } = resource.strategy
      if (rawMember !== undefined && type === strategicPatch)
        patched[rawMember] = inOrderOfNames(patched[rawMember])
      const object = receivePatched(
        context,
        endpoint,
        { patched, problems: patch.problems },
        options,
        error =>
          type === strategicPatch
            ? { value: goPrint(patch.value), detail: inConverterWords(error) }
            : {
                value: patchedText(endpoint, { type, body: bytesOf(context) }, { current, patched }),
                detail: error,
              },
      )
      const wanted = metadataOf(object)
      checkName(context, wanted.name)
      versioned = wanted.resourceVersion !== metadataOf(current).resourceVersion
      checkVersion(resource.info, current, wanted.resourceVersion)
      if (resource.custom) checkCustomType(endpoint, object)
      placeInNamespace(resource, object, context.info.namespace)
      return changeObject(context, endpoint, object, current, options)
    },
  })
  return view.object(200, result)
}

/** As in the answer to what a client cannot accept, the words for built-in kinds are the router's. */
function unsupportedPatch({ resource }: Endpoint, types: readonly string[]): StatusError {
  const error = newUnsupportedMediaType(types)
  if (resource.custom) return error
  return new StatusError({ ...error.status, message: '415: Unsupported Media Type', details: {} })
}

function receivePatched(
  context: ResourceContext,
  endpoint: Endpoint,
  { patched, problems }: { readonly patched: JsonObject; readonly problems: readonly string[] },
  options: WriteOptions,
  describe: Describe,
): JsonObject {
  try {
    const body = { object: { ...patched }, duplicates: [], patchProblems: problems }
    return receiveObject(context, endpoint, body, options)
  } catch (error) {
    throw asPatchError(error, describe)
  }
}

function inOrderOfNames(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inOrderOfNames)
  if (!isObject(value)) return value
  const names = Object.keys(value).sort()
  return Object.fromEntries(names.map(name => [name, inOrderOfNames(value[name])]))
}

/** Whether the request is a server-side apply. */
export function isApplyPatch({ info, request }: ResourceContext): boolean {
  const { type } = parseMediaType(getHeader(request.headers, 'content-type') ?? '')
  return info.verb === 'patch' && type === applyPatch
}

/** Reads the request's patch, to be applied to something other than the stored object. */
export function patchValue(
  context: ResourceContext,
  endpoint: Endpoint,
  schema: Schema,
): (value: JsonObject) => JsonObject {
  const { type } = parseMediaType(getHeader(context.request.headers, 'content-type') ?? '')
  const types = [jsonPatch, mergePatch, ...(endpoint.resource.custom ? [] : [strategicPatch])]
  if (!types.includes(type)) throw newUnsupportedMediaType([...types, applyPatch])
  const patch = compilePatch(schema, type, bytesOf(context))
  return value => runPatch(patch, value)
}

function compilePatch(schema: Schema, type: string, body: Uint8Array): Patch {
  try {
    const { value, duplicates } = readJson(body)
    const problems = duplicates.map(path => `duplicate field ${JSON.stringify(path)}`)
    if (type === jsonPatch) {
      const operations = decodeJsonPatch(value)
      const unknown = unknownJsonPatchFields(operations).map(path => `unknown field ${JSON.stringify(path)}`)
      return {
        value,
        problems: [...unknown, ...problems].map(problem => `json patch ${problem}`),
        apply: current => applyJsonPatch(current, operations),
      }
    }
    if (type === mergePatch) {
      const patch = decodeMergePatch(value)
      return { value, problems, apply: current => applyMergePatch(current, patch) }
    }
    const patch = decodeStrategicMergePatch(value)
    const apply = (current: JsonObject) => {
      try {
        return applyStrategicMergePatch(current, patch, schema)
      } catch (error) {
        if (isMachineryError(error) && error.code !== 'PatchUndecodable') throw unprocessable(error.message)
        throw error
      }
    }
    return { value, problems, apply }
  } catch (error) {
    if (isMachineryError(error, 'PatchTooLarge') || isMachineryError(error, 'JsonTooLarge')) {
      throw newRequestEntityTooLarge(error.message)
    }
    if (isMachineryError(error)) {
      const message = error.message.replace(/^error decoding patch: /, '')
      throw newBadRequest(type === strategicPatch ? message : `error decoding patch: ${message}`)
    }
    throw error
  }
}

/** A copy of the present object with the patch applied. Throws a 422 when it does not fit. */
function runPatch(patch: Patch, current: JsonObject): JsonObject {
  let patched: unknown
  try {
    patched = deepClone(patch.apply(current))
  } catch (error) {
    if (isMachineryError(error, 'PatchUndecodable')) throw newBadRequest(error.message)
    if (isMachineryError(error)) throw unprocessable()
    throw error
  }
  if (!isObject(patched)) throw newBadRequest('the patch leaves no object')
  return patched
}

/** A well-formed patch that cannot be applied. */
function unprocessable(message: string = refusal): StatusError {
  const { status } = newInvalid({ group: '', kind: '' }, '', [])
  return new StatusError({ ...status, message, details: {} })
}

const refusal = 'the server rejected our request due to an error in our request'

/** What a message quotes of a patch, and how it puts the decoder's error. */
type Describe = (error: string) => { readonly value: string; readonly detail: string }

/** What the patch leaves behind cannot be read as the kind: the patch is to blame. */
function asPatchError(error: unknown, describe: Describe): unknown {
  if (!isStatusError(error) || error.reason !== 'BadRequest') return error
  const { value, detail } = describe(error.message.replace(/^.* cannot be handled as an? [^:]*: /, ''))
  return newInvalid({ group: '', kind: '' }, '', [field.invalid(field.Path.of('patch'), value, detail)])
}

/** Go's kinds of JSON values, by the names that its JSON decoder has for them. */
const goKinds: Readonly<Record<string, string>> = {
  array: 'slice',
  bool: 'bool',
  number: 'int64',
  object: 'map',
  string: 'string',
}

/**
 * Upstream does not decode what a strategic merge patch leaves: it converts maps into structs, and says about a wrong type
 * something else than its JSON decoder does.
 */
function inConverterWords(error: string): string {
  const pattern = /^json: cannot unmarshal (\w+)( \S+)? into Go struct field \S+ of type (\S+)$/
  const [, source = '', number = '', type = ''] = pattern.exec(error) ?? []
  if (type === '') return error
  if (type.startsWith('map[')) return `cannot restore map from ${goKinds[source]}`
  if (type.startsWith('[]')) return `cannot restore slice from ${goKinds[source]}`
  if (type.includes('.')) return `cannot restore struct from: ${goKinds[source]}`
  if (number !== '') return `cannot convert ${/^ -?\d+$/.test(number) ? 'int64' : 'float64'} to ${type}`
  return source === 'number' && type === 'string'
    ? 'cannot convert int64 to string'
    : `unrecognized type: ${type}`
}
