import type { Schema } from '@coxswain/apimachinery/schema'
import { printDocComment } from '../source/doc-comment.ts'
import { type Names, pascalCase, printKey, printString } from '../source/identifier.ts'

/** A type as source, for reading and for creating. They are the same unless a default lies in it. */
export interface TypeForms {
  readonly read: string
  readonly create: string
}

/** A member of an interface. */
interface Member {
  readonly name: string
  readonly doc: string
  readonly form: TypeForms
  readonly isRequired: boolean
  readonly hasDefault: boolean
}

const open = '{ [key: string]: unknown }'
const same = (type: string): TypeForms => ({ read: type, create: type })

/** Prints the types of schemas. Each object with properties becomes an interface, named after its path, in `declarations`. */
export class TypePrinter {
  readonly declarations: string[] = []
  readonly #names: Names

  constructor(names: Names) {
    this.#names = names
  }

  /** The type of a value; `name` is that of the interface it may need. */
  typeOf(schema: Schema, name: string): TypeForms {
    const form = this.#plainType(schema, name)
    if (schema.nullable !== true || form.read === 'unknown') return form
    return { read: `${form.read} | null`, create: `${form.create} | null` }
  }

  /** The members of an object's interface in both forms, but for `omitted` ones. */
  members(
    schema: Schema,
    { name, omitted = [] }: { readonly name: string; readonly omitted?: readonly string[] },
  ): TypeForms {
    const members = Object.entries(schema.properties ?? {})
      .filter(([key]) => !omitted.includes(key))
      .map(([key, property]): Member => {
        const tags =
          property.default === undefined ? [] : [`@default ${JSON.stringify(plain(property.default))}`]
        return {
          name: printKey(key),
          doc: printDocComment(property.description, { indent: '  ', tags }),
          // Every object has such a member, so no other type could be left out.
          form:
            key in Object.prototype ? same('unknown') : this.typeOf(property, `${name}${pascalCase(key)}`),
          isRequired: schema.required?.includes(key) === true,
          hasDefault: property.default !== undefined,
        }
      })
    const rest = isOpen(schema) ? '  [key: string]: unknown\n' : ''
    const print = (form: keyof TypeForms, isPresent: (member: Member) => boolean): string =>
      members
        .map(member => `${member.doc}  ${member.name}${isPresent(member) ? '' : '?'}: ${member.form[form]}\n`)
        .join('') + rest
    return {
      read: print('read', member => member.isRequired || member.hasDefault),
      create: print('create', member => member.isRequired && !member.hasDefault),
    }
  }

  #plainType(schema: Schema, name: string): TypeForms {
    const { type, items, additionalProperties: values } = schema
    if (schema['x-kubernetes-int-or-string'] === true) return same('number | string')
    const literals = literalTypes(schema.enum)
    if (literals !== undefined) return same(literals)
    switch (type) {
      case 'string':
      case 'boolean':
        return same(type)
      case 'integer':
      case 'number':
        return same('number')
      case 'array':
        return items === undefined ? same('unknown[]') : this.#listType(schema, items, name)
      case 'object':
        if (
          Object.keys(schema.properties ?? {}).length > 0 ||
          schema['x-kubernetes-embedded-resource'] === true
        )
          return this.#interface(schema, name)
        if (typeof values === 'object') {
          const value = this.typeOf(values, name)
          return {
            read: `{ [key: string]: ${value.read} }`,
            create: `{ [key: string]: ${value.create} }`,
          }
        }
        return same(isOpen(schema) ? open : '{ [key: string]: never }')
      default:
        return same('unknown')
    }
  }

  #listType(schema: Schema, items: Schema, name: string): TypeForms {
    const item = this.typeOf(items, name)
    const keys = schema['x-kubernetes-list-map-keys'] ?? []
    const isMap = schema['x-kubernetes-list-type'] === 'map' && keys.every(key => items.properties?.[key])
    const list = (type: string): string => {
      if (isMap && keys.length > 0) return `k8s.ListMap<${type}, ${keys.map(printString).join(' | ')}>`
      return /^[\w.]+$/.test(type) || /^\{[^{}]*\}$/.test(type) ? `${type}[]` : `(${type})[]`
    }
    return { read: list(item.read), create: list(item.create) }
  }

  #interface(schema: Schema, wished: string): TypeForms {
    const name = this.#names.take(wished)
    const isEmbedded = schema['x-kubernetes-embedded-resource'] === true
    const body = this.members(schema, { name, omitted: isEmbedded ? ['apiVersion', 'kind', 'metadata'] : [] })
    const head = isEmbedded ? '  apiVersion: string\n  kind: string\n  metadata?: k8s.ObjectMeta\n' : ''
    this.declarations.push(`export interface ${name} {\n${head}${body.read}}\n`)
    if (body.create === body.read) return same(name)
    const create = this.#names.take(`${name}Create`)
    this.declarations.push(
      `/** {@link ${name}} as it may be sent. */\nexport interface ${create} {\n${head}${body.create}}\n`,
    )
    return { read: name, create }
  }
}

function isOpen(schema: Schema): boolean {
  return schema['x-kubernetes-preserve-unknown-fields'] === true || schema.additionalProperties === true
}

/** Scalars as a union of literals; undefined when one is not a scalar. */
function literalTypes(values: readonly unknown[] | undefined): string | undefined {
  if (values === undefined || values.length === 0) return undefined
  const literals = values.map(value => {
    if (typeof value === 'string') return printString(value)
    if (typeof value === 'number' || typeof value === 'boolean' || value === null) return String(value)
    return undefined
  })
  return literals.includes(undefined) ? undefined : [...new Set(literals)].join(' | ')
}

/** JSON has no bigint. */
function plain(value: unknown): unknown {
  return typeof value === 'bigint' ? Number(value) : value
}
