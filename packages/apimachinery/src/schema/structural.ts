import { type FieldError, forbidden, formatFieldError, invalid, required } from '../field/error.ts'
import { Path } from '../field/path.ts'
import { compareCodePoints } from '../go/print-value.ts'
import type { Schema } from './schema.ts'
import { AlternativesCheck, isIntOrStringAnyOf } from './structural-nested.ts'

type Level = 'root' | 'item' | 'field'

/**
 * The rules that make a schema structural, which the schema of every CustomResourceDefinition must be: types are given
 * outside of alternatives, everything that alternatives speak of is specified, metadata is left alone. Errors are sorted
 * by their text, as upstream.
 */
export function checkStructural(schema: Schema, path: Path = Path.root): FieldError[] {
  return new StructuralCheck()
    .run(schema, path)
    .sort((a, b) => compareCodePoints(formatFieldError(a), formatFieldError(b)))
}

const emptyType: Record<Level, string> = {
  root: 'must not be empty at the root',
  item: 'must not be empty for specified array items',
  field: 'must not be empty for specified object fields',
}

/** One walk over a schema, and what is wrong with it. */
class StructuralCheck {
  readonly #errors: FieldError[] = []
  readonly #alternatives = new AlternativesCheck(this.#errors)

  run(schema: Schema, path: Path): FieldError[] {
    this.#checkNode(schema, 'root', path)
    this.#alternatives.checkCompleteness(schema, schema, { at: path, from: path })
    return this.#errors
  }

  #checkNode(schema: Schema, level: Level, path: Path): void {
    const { type, items, properties, additionalProperties } = schema
    if (type === 'array' && items === undefined)
      this.#errors.push(required(path.child('items'), 'must be specified'))
    if (items !== undefined) this.#checkNode(items, 'item', path.child('items'))
    for (const [key, property] of Object.entries(properties ?? {})) {
      this.#checkNode(property, 'field', path.child('properties').key(key))
    }
    if (additionalProperties !== undefined) {
      const at = path.child('additionalProperties')
      if (level === 'root') this.#errors.push(forbidden(at, 'must not be used at the root'))
      if (typeof additionalProperties === 'object') this.#checkNode(additionalProperties, 'field', at)
    }
    this.#checkExtensions(schema, path)
    const exceptions = {
      skipAnyOf: isIntOrStringAnyOf(schema.anyOf),
      skipFirstAllOfAnyOf: isIntOrStringAnyOf(schema.allOf?.[0]?.anyOf),
    }
    this.#alternatives.checkNested(schema, exceptions, path)
    this.#checkType(schema, level, path)
    this.#checkMetadata(schema, level, path)
  }

  #checkExtensions(schema: Schema, path: Path): void {
    if (schema['x-kubernetes-int-or-string'] !== true) return
    for (const name of ['x-kubernetes-preserve-unknown-fields', 'x-kubernetes-embedded-resource'] as const) {
      if (schema[name] === true) {
        this.#errors.push(
          invalid(path.child(name), true, 'must be false if x-kubernetes-int-or-string is true'),
        )
      }
    }
  }

  #checkType(schema: Schema, level: Level, path: Path): void {
    const { type } = schema
    const embedded = schema['x-kubernetes-embedded-resource'] === true
    const preserve = schema['x-kubernetes-preserve-unknown-fields'] === true
    const at = path.child('type')
    if (embedded && type !== 'object') {
      const detail = 'must be object if x-kubernetes-embedded-resource is true'
      this.#errors.push(type === undefined ? required(at, detail) : invalid(at, type, detail))
    } else if (type === undefined && schema['x-kubernetes-int-or-string'] !== true && !preserve) {
      this.#errors.push(required(at, emptyType[level]))
    }
    if (embedded && schema.additionalProperties !== undefined) {
      const detail = 'must not be used if x-kubernetes-embedded-resource is set'
      this.#errors.push(forbidden(path.child('additionalProperties'), detail))
    }
    if (level === 'root' && type !== undefined && type !== 'object') {
      this.#errors.push(invalid(at, type, 'must be object at the root'))
    }
    if (embedded && !preserve && Object.keys(schema.properties ?? {}).length === 0) {
      const detail =
        'must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields'
      this.#errors.push(required(path.child('properties'), detail))
    }
  }

  #checkMetadata(schema: Schema, level: Level, path: Path): void {
    const properties = schema.properties ?? {}
    const isResource = level === 'root' || schema['x-kubernetes-embedded-resource'] === true
    for (const key of ['kind', 'apiVersion']) {
      const property = Object.hasOwn(properties, key) ? properties[key] : undefined
      if (property !== undefined && isResource && property.type !== 'string') {
        this.#errors.push(
          invalid(path.child('properties').key(key).child('type'), property.type ?? '', 'must be string'),
        )
      }
    }
    if (!Object.hasOwn(properties, 'metadata')) return
    const metadata = properties.metadata!
    const at = path.child('properties').key('metadata')
    if (isResource && metadata.type !== 'object') {
      this.#errors.push(invalid(at.child('type'), metadata.type ?? '', 'must be object'))
    }
    if (level === 'root' && !restrictsNamesOnly(metadata)) {
      const detail =
        'must not specify anything other than name and generateName, but metadata is implicitly specified'
      this.#errors.push(forbidden(at, detail))
    }
  }
}

function restrictsNamesOnly(metadata: Schema): boolean {
  const { type: _type, default: _default, properties, ...rest } = metadata
  const names = Object.keys(properties ?? {})
  return Object.keys(rest).length === 0 && names.every(name => name === 'name' || name === 'generateName')
}
