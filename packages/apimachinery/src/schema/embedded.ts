import { isMachineryError } from '../errors.ts'
import { type FieldError, invalid, required } from '../field/error.ts'
import { Path } from '../field/path.ts'
import { deepClone } from '../json/value.ts'
import { parseGroupVersion } from '../meta/gvk.ts'
import type { ObjectMeta } from '../meta/meta.ts'
import { isDNS1035Label } from '../validation/dns.ts'
import { nameIsPathSegment, validateObjectMeta } from '../validation/object-meta.ts'
import { decodeTyped } from './decode.ts'
import { reaches } from './list-types.ts'
import { objectMetaSchema } from './object-meta-schema.ts'
import { prune } from './prune.ts'
import type { Schema } from './schema.ts'

const memory = new WeakMap<Schema, boolean>()

function hasEmbedded(schema: Schema): boolean {
  return reaches(schema, memory, node => node['x-kubernetes-embedded-resource'] === true)
}

export interface Coerced {
  /** The first malformed metadata, if any. */
  readonly error?: FieldError
  /** Paths of fields that ObjectMeta does not have, which were removed. */
  readonly unknown: readonly string[]
}

/**
 * Checks the types of apiVersion, kind and metadata of the resources embedded in `value`, and removes from that metadata
 * what ObjectMeta does not have.
 */
export function coerceEmbedded(schema: Schema, value: unknown): Coerced {
  const unknown: string[] = []
  let error: FieldError | undefined
  forEachEmbedded(schema, value, Path.root, (object, path) => {
    if (error !== undefined) return
    for (const key of ['apiVersion', 'kind']) {
      if (Object.hasOwn(object, key) && typeof object[key] !== 'string') {
        error ??= invalid(path.child(key), object[key], 'must be a string')
      }
    }
    if (error !== undefined || !Object.hasOwn(object, 'metadata')) return
    const at = path.child('metadata')
    const { metadata } = object
    if (metadata === null) {
      delete object.metadata
      return
    }
    const problem = decodeTyped(objectMetaSchema, metadata)
    if (problem !== undefined) {
      error = invalid(at, metadata, problem)
      return
    }
    for (const item of prune(objectMetaSchema, metadata).map(name => `${at}.${name}`)) unknown.push(item)
    dropEmptyMetadata(metadata as Record<string, unknown>)
  })
  return error === undefined ? { unknown } : { error, unknown }
}

/** What Go leaves out when it writes ObjectMeta. */
function dropEmptyMetadata(metadata: Record<string, unknown>): void {
  for (const key of Object.keys(metadata)) {
    const value = metadata[key]
    const empty =
      value === '' ||
      (key === 'generation' && value === 0) ||
      (typeof value === 'object' && value !== null && Object.keys(value).length === 0)
    if (empty) delete metadata[key]
  }
}

/** Validates the resources embedded in `value`: they need an apiVersion, a kind and valid metadata. */
export function validateEmbedded(schema: Schema, value: unknown, base: Path = Path.root): FieldError[] {
  const errors: FieldError[] = []
  forEachEmbedded(schema, value, base, (object, path) => {
    if (!Object.hasOwn(object, 'apiVersion')) errors.push(required(path.child('apiVersion')))
    if (!Object.hasOwn(object, 'kind')) errors.push(required(path.child('kind')))
    if (Object.hasOwn(object, 'apiVersion'))
      for (const error of checkApiVersion(object.apiVersion, path.child('apiVersion'))) errors.push(error)
    if (Object.hasOwn(object, 'kind'))
      for (const error of checkKind(object.kind, path.child('kind'))) errors.push(error)
    if (Object.hasOwn(object, 'metadata'))
      for (const error of checkMetadata(object.metadata, path.child('metadata'))) errors.push(error)
  })
  return errors
}

function checkApiVersion(value: unknown, path: Path): FieldError[] {
  if (typeof value !== 'string') return [invalid(path, value, 'must be a string')]
  if (value === '') return [invalid(path, value, 'must not be empty')]
  try {
    parseGroupVersion(value)
    return []
  } catch (error) {
    if (isMachineryError(error)) return [invalid(path, value, error.message)]
    throw error
  }
}

function checkKind(value: unknown, path: Path): FieldError[] {
  if (typeof value !== 'string') return [invalid(path, value, 'must be a string')]
  if (value === '') return [invalid(path, value, 'must not be empty')]
  const problems = isDNS1035Label(value.toLowerCase())
  if (problems.length === 0) return []
  return [invalid(path, value, `may have mixed case, but should otherwise match: ${problems.join(',')}`)]
}

function checkMetadata(value: unknown, path: Path): FieldError[] {
  const metadata = deepClone(value)
  const problem = metadata === null ? undefined : decodeTyped(objectMetaSchema, metadata)
  if (problem !== undefined) return [invalid(path, value, problem)]
  const meta = { ...((metadata ?? {}) as ObjectMeta) }
  // A name is not required here.
  if (!meta.name) meta.name = 'fakename'
  return validateObjectMeta(meta, { namespaced: !!meta.namespace, validateName: nameIsPathSegment }, path)
}

type Visit = (object: Record<string, unknown>, path: Path) => void

function forEachEmbedded(schema: Schema, value: unknown, path: Path, visit: Visit): void {
  if (typeof value !== 'object' || value === null || !hasEmbedded(schema)) return
  if (Array.isArray(value)) {
    const { items } = schema
    if (items !== undefined)
      for (const [i, item] of value.entries()) forEachEmbedded(items, item, path.index(i), visit)
    return
  }
  const object = value as Record<string, unknown>
  if (schema['x-kubernetes-embedded-resource'] === true) visit(object, path)
  const { properties, additionalProperties } = schema
  for (const key of Object.keys(object)) {
    if (properties !== undefined && Object.hasOwn(properties, key)) {
      forEachEmbedded(properties[key]!, object[key], path.child(key), visit)
    } else if (typeof additionalProperties === 'object') {
      forEachEmbedded(additionalProperties, object[key], path.key(key), visit)
    }
  }
}
