import { type FieldError, forbidden, invalid, notSupported, required } from '../field/error.ts'
import { Path } from '../field/path.ts'
import { validateDefaults } from './crd-schema-defaults.ts'
import { checkListMapKeys, checkListType, checkMapType } from './crd-schema-lists.ts'
import { followFieldPath } from './field-path.ts'
import type { Schema, ValidationRule } from './schema.ts'
import { checkStructural } from './structural.ts'

/** Keywords of JSON schema that no CRD may use, and that `Schema` therefore does not have. */
const unsupported = [
  'id',
  'additionalItems',
  'patternProperties',
  'definitions',
  'dependencies',
  '$ref',
] as const

const types = ['array', 'boolean', 'integer', 'number', 'object', 'string']
const reasons = ['FieldValueDuplicate', 'FieldValueForbidden', 'FieldValueInvalid', 'FieldValueRequired']

interface Place {
  readonly root: boolean
  /** Below the apiVersion, kind or metadata of a resource. */
  readonly insideMeta: boolean
  /** Why there may be no default here. */
  readonly noDefault: string | undefined
}

/** The errors of `inspectCrdSchema`, in the order in which a server reports them. */
export interface CrdSchemaFindings {
  /** Not structural, or a default that the schema itself rejects: CEL rules cannot be typed then. */
  readonly structure: readonly FieldError[]
  /** Keywords that are not allowed or conflict. */
  readonly keywords: readonly FieldError[]
  /** A keyword because of which the schema could not be parsed as a structural one. */
  readonly unreadable: string | undefined
}

/**
 * Everything that a server validates in the schema of a new CustomResourceDefinition: whether it is
 * structural, defaults that violate the schema, conflicting keywords. CEL rules are not
 * compiled. `schema` may be anything a client sent in the shape of a schema.
 */
export function inspectCrdSchema(schema: Schema, path: Path = Path.root): CrdSchemaFindings {
  const unreadable = findUnsupported(schema)
  const structural = unreadable === undefined ? checkStructural(schema, path) : []
  const structure =
    structural.length > 0 || unreadable !== undefined ? structural : validateDefaults(schema, path)
  return { structure, keywords: new KeywordsCheck().run(schema, path), unreadable }
}

/** The same as one list. */
export function validateCrdSchema(schema: Schema, path: Path = Path.root): FieldError[] {
  const { structure, keywords, unreadable } = inspectCrdSchema(schema, path)
  const errors = [...structure, ...keywords]
  if (errors.length === 0 && unreadable !== undefined) {
    errors.push(invalid(path, '', `OpenAPIV3Schema '${unreadable}' is not supported`))
  }
  return errors
}

/** A keyword that makes it impossible to validate the schema as a structural one. */
function findUnsupported(schema: Schema): string | undefined {
  const loose = schema as Readonly<Record<string, unknown>>
  if (loose.$schema !== undefined) return 'schema'
  for (const keyword of unsupported) if (loose[keyword] !== undefined) return keyword
  if (Array.isArray(schema.items)) return 'items'
  for (const child of children(schema)) {
    const found = findUnsupported(child)
    if (found !== undefined) return found
  }
  return undefined
}

function children(schema: Schema): Schema[] {
  const { items, additionalProperties, not } = schema
  return [
    ...Object.values(schema.properties ?? {}),
    ...(items === undefined ? [] : [items]),
    ...(typeof additionalProperties === 'object' ? [additionalProperties] : []),
    ...(schema.allOf ?? []),
    ...(schema.anyOf ?? []),
    ...(schema.oneOf ?? []),
    ...(not === undefined ? [] : [not]),
  ]
}

/** One walk over the keywords of a schema, and what is wrong with them. */
class KeywordsCheck {
  readonly #errors: FieldError[] = []

  run(schema: Schema, path: Path): readonly FieldError[] {
    if (schema.nullable === true)
      this.#errors.push(forbidden(path.child('nullable'), 'nullable cannot be true at the root'))
    this.#checkNode(schema, { root: true, insideMeta: false, noDefault: undefined }, path)
    return this.#errors
  }

  #checkNode(schema: Schema, place: Place, path: Path): void {
    this.#checkKeywords(schema, place, path)
    this.#checkChildren(schema, place, path)
    if (schema['x-kubernetes-preserve-unknown-fields'] === false) {
      this.#errors.push(
        invalid(path.child('x-kubernetes-preserve-unknown-fields'), false, 'must be true or undefined'),
      )
    }
    checkMapType(schema, path, this.#errors)
    checkListType(schema, path, this.#errors)
    checkListMapKeys(schema, path, this.#errors)
    for (const [i, rule] of (schema['x-kubernetes-validations'] ?? []).entries()) {
      this.#checkRule(rule, schema, path.child('x-kubernetes-validations').index(i))
    }
  }

  #checkKeywords(schema: Schema, place: Place, path: Path): void {
    const type: string | undefined = schema.type
    if (type && !types.includes(type)) this.#errors.push(notSupported(path.child('type'), type, types))
    if (schema.default !== undefined && schema.default !== null && place.noDefault !== undefined) {
      this.#errors.push(forbidden(path.child('default'), `must not be set ${place.noDefault}`))
    }
    for (const keyword of unsupported) {
      if ((schema as Readonly<Record<string, unknown>>)[keyword] !== undefined) {
        this.#errors.push(forbidden(path.child(keyword), `${keyword} is not supported`))
      }
    }
    if (type === 'null') {
      this.#errors.push(
        forbidden(path.child('type'), 'type cannot be set to null, use nullable as an alternative'),
      )
    }
    if (Array.isArray(schema.items)) {
      this.#errors.push(forbidden(path.child('items'), 'items must be a schema object and not an array'))
    }
    if (place.insideMeta && schema['x-kubernetes-embedded-resource'] === true) {
      this.#errors.push(
        forbidden(path.child('x-kubernetes-embedded-resource'), 'must not be used inside of resource meta'),
      )
    }
    if (schema.uniqueItems === true) {
      const detail = 'uniqueItems cannot be set to true since the runtime complexity becomes quadratic'
      this.#errors.push(forbidden(path.child('uniqueItems'), detail))
    }
  }

  #checkChildren(schema: Schema, place: Place, path: Path): void {
    const { properties = {}, additionalProperties, items, not } = schema
    const below: Place = { ...place, root: false }
    if (additionalProperties !== undefined) {
      const at = path.child('additionalProperties')
      if (Object.keys(properties).length > 0 && additionalProperties !== true) {
        this.#errors.push(forbidden(at, 'additionalProperties and properties are mutual exclusive'))
      }
      const noDefault = place.insideMeta
        ? 'inside additionalProperties applying to object metadata'
        : place.noDefault
      if (typeof additionalProperties === 'object')
        this.#checkNode(additionalProperties, { ...below, noDefault }, at)
    }
    const isResource = place.root || schema['x-kubernetes-embedded-resource'] === true
    for (const [key, property] of Object.entries(properties)) {
      const at = path.child('properties').key(key)
      const isMeta = isResource && (key === 'metadata' || key === 'kind' || key === 'apiVersion')
      const noDefault = isMeta && place.root ? `in top-level ${key}` : place.noDefault
      this.#checkNode(property, isMeta ? { root: false, insideMeta: true, noDefault } : below, at)
    }
    if (not !== undefined) this.#checkNode(not, below, path.child('not'))
    for (const keyword of ['allOf', 'oneOf', 'anyOf'] as const) {
      for (const [i, nested] of (schema[keyword] ?? []).entries()) {
        this.#checkNode(nested, below, path.child(keyword).index(i))
      }
    }
    if (items !== undefined && !Array.isArray(items)) this.#checkNode(items, below, path.child('items'))
  }

  #checkRule(rule: ValidationRule, schema: Schema, path: Path): void {
    const { message = '', messageExpression = '', fieldPath = '', reason } = rule
    const text = rule.rule ?? ''
    if (text.trim() === '') {
      this.#errors.push(required(path.child('rule'), 'rule is not specified'))
    } else if (message !== '' && message.trim() === '') {
      this.#errors.push(invalid(path.child('message'), message, 'must be non-empty if specified'))
    } else if (hasLineBreak(message.trim())) {
      this.#errors.push(invalid(path.child('message'), message, 'must not contain line breaks'))
    } else if (hasLineBreak(text.trim()) && message.trim() === '') {
      this.#errors.push(
        required(path.child('message'), 'message must be specified if rule contains line breaks'),
      )
    }
    if (messageExpression !== '' && messageExpression.trim() === '') {
      this.#errors.push(
        required(path.child('messageExpression'), 'messageExpression must be non-empty if specified'),
      )
    }
    if (reason !== undefined && !reasons.includes(reason)) {
      this.#errors.push(notSupported(path.child('reason'), reason, reasons))
    }
    if (fieldPath !== '' && fieldPath.trim() === '') {
      this.#errors.push(invalid(path.child('fieldPath'), fieldPath, 'must be non-empty if specified'))
    }
    if (hasLineBreak(fieldPath))
      this.#errors.push(invalid(path.child('fieldPath'), fieldPath, 'must not contain line breaks'))
    if (fieldPath !== '' && typeof followFieldPath(fieldPath, schema) === 'string') {
      this.#errors.push(invalid(path.child('fieldPath'), fieldPath, 'must be a valid path'))
    }
  }
}

function hasLineBreak(text: string): boolean {
  return /[\n\r]/.test(text)
}
