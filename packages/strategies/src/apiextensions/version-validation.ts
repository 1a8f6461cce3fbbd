import type { FieldError } from '@coxswain/apimachinery/field'
import * as field from '@coxswain/apimachinery/field'
import { isObject, type JsonObject } from '@coxswain/apimachinery/json'
import { followFieldPath, inspectCrdSchema, type Schema } from '@coxswain/apimachinery/schema'
import { encodeText } from '@coxswain/kit'
import type { CrdVersion } from './crd.ts'
import { checkDefaults, checkRules } from './rule-checks.ts'
import { hasRules } from './rules.ts'

type Findings = Generator<FieldError, void, undefined>

const columnTypes = ['boolean', 'date', 'integer', 'number', 'string']
const columnFormats = ['byte', 'date', 'date-time', 'double', 'float', 'int32', 'int64', 'password']
const longestWarning = 256
const mostSelectableFields = 8

export function* validateDeprecation(version: CrdVersion, path: field.Path): Findings {
  const warning = version.deprecationWarning
  if (warning === undefined || warning === null) return
  const at = path.child('deprecationWarning')
  if (!version.deprecated) {
    yield field.invalid(at, warning, 'can only be set for deprecated versions')
    return
  }
  if (encodeText(warning).length > longestWarning) {
    yield field.invalid(at, warning, `must be <= ${longestWarning} characters long`)
  }
  if (warning === '') yield field.invalid(at, warning, 'must not be an empty string')
  const unprintable = findUnprintable(warning)
  if (unprintable !== undefined) {
    const detail = `must only contain printable UTF-8 characters; non-printable character found at index ${unprintable}`
    yield field.invalid(at, warning, detail)
  }
}

/** The byte index of the first character that Go would not print. */
function findUnprintable(text: string): number | undefined {
  const found = /(?! )[\p{C}\p{Z}]/u.exec(text)
  return found ? encodeText(text.slice(0, found.index)).length : undefined
}

/** What a root schema may have beside `type` when the status is a subresource, by Go's names. */
const allowedAtRoot: Readonly<Record<string, string>> = {
  description: 'Description',
  type: 'Type',
  format: 'Format',
  title: 'Title',
  maximum: 'Maximum',
  exclusiveMaximum: 'ExclusiveMaximum',
  minimum: 'Minimum',
  exclusiveMinimum: 'ExclusiveMinimum',
  maxLength: 'MaxLength',
  minLength: 'MinLength',
  pattern: 'Pattern',
  maxItems: 'MaxItems',
  minItems: 'MinItems',
  uniqueItems: 'UniqueItems',
  multipleOf: 'MultipleOf',
  required: 'Required',
  items: 'Items',
  properties: 'Properties',
  externalDocs: 'ExternalDocs',
  example: 'Example',
  'x-kubernetes-preserve-unknown-fields': 'XPreserveUnknownFields',
  'x-kubernetes-validations': 'XValidations',
}

/** `path` is that of the member with `openAPIV3Schema`. */
export function* validateSchema(
  validation: CrdVersion['schema'],
  path: field.Path,
  { hasStatus, unchanged }: { readonly hasStatus: boolean; readonly unchanged: boolean },
): Findings {
  const schema = validation?.openAPIV3Schema
  if (!schema) return
  if (hasStatus) yield* validateRoot(schema, path)
  const at = path.child('openAPIV3Schema')
  const { structure, keywords, unreadable } = inspectCrdSchema(schema, at)
  yield* structure
  const isSound = structure.length === 0 && unreadable === undefined
  const judged = isSound && hasRules(schema)
  const defaults = judged ? checkDefaults(schema, at) : []
  yield* defaults
  yield* keywords
  // Rules can be typed only where the schema and its defaults are valid.
  if (judged && defaults.length === 0) yield* checkRules(schema, at, { unchanged, problems: keywords })
  if (unreadable !== undefined && keywords.length === 0)
    yield field.invalid(at, '', `OpenAPIV3Schema '${unreadable}' is not supported`)
}

function* validateRoot(schema: Schema, path: field.Path): Findings {
  const when = 'of the schema if the status subresource is enabled'
  if (schema.type !== undefined && schema.type !== 'object') {
    const detail = `only "object" is allowed as the type at the root ${when}`
    yield field.invalid(path.child('openAPIV3Schema', 'type'), schema.type, detail)
  }
  const other = Object.entries(schema).find(([key, value]) => !(key in allowedAtRoot) && !isZero(value))
  if (other) {
    const names = Object.values(allowedAtRoot).join(' ')
    const detail = `only [${names}] fields are allowed at the root ${when}`
    yield field.invalid(path.child('openAPIV3Schema'), schema, detail)
  }
}

/** Whether the value equals Go's zero value. */
function isZero(value: unknown): boolean {
  return value === undefined || value === null || value === false || value === '' || value === 0
}

export function* validateSubresources(subresources: JsonObject | undefined, path: field.Path): Findings {
  const scale = subresources?.scale
  if (!isObject(scale)) return
  const paths = [
    ['specReplicasPath', ['.spec.'], 'should be a json path under .spec'],
    ['statusReplicasPath', ['.status.'], 'should be a json path under .status'],
    ['labelSelectorPath', ['.spec.', '.status.'], 'should be a json path under either .spec or .status'],
  ] as const
  for (const [name, roots, detail] of paths) {
    const at = path.child(`scale.${name}`)
    const value = scale[name] ?? ''
    if (value === '') {
      if (name !== 'labelSelectorPath') yield field.required(at)
    } else if (typeof value === 'string' && !value.startsWith('.')) {
      yield field.invalid(at, value, simplePath)
    } else if (typeof value === 'string' && !roots.some(root => value.startsWith(root))) {
      yield field.invalid(at, value, detail)
    }
  }
}

const simplePath = 'must be a simple json path starting with .'

export function* validateColumn(column: JsonObject, path: field.Path): Findings {
  const { name = '', type = '', format = '', jsonPath = '' } = column as Record<string, string>
  if (name === '') yield field.required(path.child('name'))
  const types = `must be one of ${columnTypes.join(',')}`
  if (type === '') yield field.required(path.child('type'), types)
  else if (!columnTypes.includes(type)) yield field.invalid(path.child('type'), type, types)
  if (format !== '' && !columnFormats.includes(format)) {
    yield field.invalid(path.child('format'), format, `must be one of ${columnFormats.join(',')}`)
  }
  if (jsonPath === '') yield field.required(path.child('JSONPath'))
  else if (!jsonPath.startsWith('.')) yield field.invalid(path.child('JSONPath'), jsonPath, simplePath)
}

export function* validateSelectableFields(
  fields: NonNullable<CrdVersion['selectableFields']>,
  schema: Schema,
  path: field.Path,
  allowTooMany: boolean,
): Findings {
  const unique = new Set<string>()
  for (const [index, { jsonPath = '' }] of fields.entries()) {
    const at = path.index(index).child('jsonPath')
    if (jsonPath === '') {
      yield field.required(at)
      continue
    }
    const target = followFieldPath(jsonPath, schema, { brackets: false })
    if (typeof target === 'string') {
      yield field.invalid(at, jsonPath, `is an invalid path: ${target}`)
      continue
    }
    if (target.steps[0] === 'metadata') {
      yield field.invalid(at, jsonPath, 'must not point to fields in metadata')
    }
    if (!['string', 'boolean', 'integer'].includes(target.schema.type ?? '')) {
      const detail =
        'must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.'
      yield field.invalid(at, jsonPath, detail)
    }
    const name = target.steps.join('.')
    if (unique.has(name)) yield field.duplicate(at, jsonPath)
    unique.add(name)
  }
  if (unique.size > mostSelectableFields && !allowTooMany) {
    yield field.tooMany(path, unique.size, mostSelectableFields)
  }
}
