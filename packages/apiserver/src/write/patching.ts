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
  StatusError,
} from '@coxswain/apimachinery/status'
import { jsonPatch, mergePatch, strategicPatch } from '../registry/media-types.ts'
import { bytesOf, decode } from './body.ts'
import { metadataOf } from './metadata.ts'
import { patchedText } from './patched-text.ts'
import type { Write } from './write.ts'

/** A write that applies a patch to the present object. */
export interface PatchWrite extends Write {
  readonly patch: Patch
}

/** A parsed patch. */
export interface Patch {
  /** Its media type. */
  readonly type: string
  /** Applies the patch to the present object. */
  readonly apply: (current: JsonObject) => unknown
  /** As sent. */
  readonly value: unknown
  /** Strict decoding errors of the patch itself. */
  readonly problems: readonly string[]
}

/** Makes the patched object the body of the write. Throws a 422 when the patch does not apply. */
export function patchObject(write: PatchWrite): void {
  const { patch, endpoint, old } = write
  const patched = runPatch(patch, old!)
  const { rawMember } = endpoint.resource.strategy
  if (rawMember !== undefined && patch.type === strategicPatch)
    patched[rawMember] = inOrderOfNames(patched[rawMember])
  write.body = { object: patched, duplicates: [], patchProblems: patch.problems }
}

/** As `decode`; throws a 422, since the patch is the cause when its result cannot be decoded. */
export function decodePatched(write: PatchWrite): void {
  const body = write.body!
  try {
    write.body = { ...body, object: { ...body.object } }
    decode(write)
  } catch (error) {
    throw asPatchError(error, message => describe(write, body.object, message))
  }
}

/** The resourceVersion that the client expects: the present one, unless the patch sets another. */
export function expectPatchedVersion(write: PatchWrite): void {
  const { resourceVersion } = metadataOf(write.object)
  write.expected = { resourceVersion }
  write.conditional = resourceVersion !== metadataOf(write.old!).resourceVersion
}

/** What a message quotes of a patch, and how it phrases the decoder's error. */
function describe({ context, endpoint, patch, old }: PatchWrite, patched: JsonObject, error: string): Quoted {
  if (patch.type === strategicPatch) return { value: goPrint(patch.value), detail: inConverterWords(error) }
  const sent = { type: patch.type, body: bytesOf(context) }
  return { value: patchedText(endpoint, sent, { current: old!, patched }), detail: error }
}

interface Quoted {
  readonly value: string
  readonly detail: string
}

function inOrderOfNames(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inOrderOfNames)
  if (!isObject(value)) return value
  const names = Object.keys(value).sort()
  return Object.fromEntries(names.map(name => [name, inOrderOfNames(value[name])]))
}

/** Parses a patch. Throws a 400 or 413. */
export function compilePatch(schema: Schema, type: string, body: Uint8Array): Patch {
  try {
    const { value, duplicates } = readJson(body)
    const problems = duplicates.map(path => `duplicate field ${JSON.stringify(path)}`)
    if (type === jsonPatch) {
      const operations = decodeJsonPatch(value)
      const unknown = unknownJsonPatchFields(operations).map(path => `unknown field ${JSON.stringify(path)}`)
      return {
        type,
        value,
        problems: [...unknown, ...problems].map(problem => `json patch ${problem}`),
        apply: current => applyJsonPatch(current, operations),
      }
    }
    if (type === mergePatch) {
      const patch = decodeMergePatch(value)
      return { type, value, problems, apply: current => applyMergePatch(current, patch) }
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
    return { type, value, problems, apply }
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

/** A copy of the present object with the patch applied. Throws a 422 when the patch does not apply. */
export function runPatch(patch: Patch, current: JsonObject): JsonObject {
  let patched: unknown
  try {
    patched = deepClone(patch.apply(current))
  } catch (error) {
    if (isMachineryError(error, 'PatchUndecodable')) throw newBadRequest(error.message)
    if (isMachineryError(error)) throw unprocessable()
    throw error
  }
  if (!isObject(patched)) throw newBadRequest('the patched document is not an object')
  return patched
}

/** A well-formed patch that cannot be applied. */
function unprocessable(message: string = refusal): StatusError {
  const { status } = newInvalid({ group: '', kind: '' }, '', [])
  return new StatusError({ ...status, message, details: {} })
}

const refusal = 'the server rejected our request due to an error in our request'

function asPatchError(error: unknown, quote: (message: string) => Quoted): unknown {
  if (!isStatusError(error) || error.reason !== 'BadRequest') return error
  const { value, detail } = quote(error.message.replace(/^.* cannot be handled as an? [^:]*: /, ''))
  return newInvalid({ group: '', kind: '' }, '', [field.invalid(field.Path.of('patch'), value, detail)])
}

/** Go's names for JSON value types, by those of its JSON decoder. */
const goKinds: Readonly<Record<string, string>> = {
  array: 'slice',
  bool: 'bool',
  number: 'int64',
  object: 'map',
  string: 'string',
}

/**
 * Upstream does not decode the result of a strategic merge patch: it converts maps into structs, with other
 * messages about wrong types than its JSON decoder.
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
