/**
 * The protobuf form of an OpenAPI v2 document that old clients ask for. Its messages mirror the JSON closely: a map is a
 * list of named values, a value of any form is YAML text (JSON is YAML), and what may be one of several things has a
 * message around it. Field numbers are those of gnostic's `OpenAPIv2.proto`.
 */
import { BackwardWriter, writeJson } from '@coxswain/apimachinery'
import type { Definition } from '../table/definition.ts'

/** The content types under which clients ask for it. */
export const gnosticMediaTypes: readonly string[] = [
  'application/com.github.proto-openapi.spec.v2@v1.0+protobuf',
  'application/com.github.proto-openapi.spec.v2.v1.0+protobuf',
]

/** Encodes what `buildOpenApiV2` made. */
export function encodeGnostic(document: Definition): Uint8Array<ArrayBuffer> {
  const writer = new BackwardWriter()
  documentMessage.write(writer, document)
  return writer.finish()
}

/** Writes the bytes of a value, without tag and length. */
interface Content {
  write(writer: BackwardWriter, value: unknown): void
}

/** Writes a field with its tag; nothing for zero and false, as the messages are proto3. */
type Field = (writer: BackwardWriter, value: unknown) => void

const lengthDelimited = 2

function wrapped(writer: BackwardWriter, number: number, write: () => void): void {
  const before = writer.length
  write()
  writer.varint(writer.length - before)
  writer.tag(number, lengthDelimited)
}

function one(number: number, content: Content): Field {
  return (writer, value) => wrapped(writer, number, () => content.write(writer, value))
}

function many(number: number, content: Content): Field {
  const field = one(number, content)
  return (writer, value) => {
    const list = value as readonly unknown[]
    for (let i = list.length - 1; i >= 0; i--) field(writer, list[i])
  }
}

function flag(number: number): Field {
  return (writer, value) => {
    if (value !== true) return
    writer.byte(1)
    writer.tag(number, 0)
  }
}

function whole(number: number): Field {
  return (writer, value) => {
    if (value === 0) return
    writer.int64(value as number)
    writer.tag(number, 0)
  }
}

function double(number: number): Field {
  return (writer, value) => {
    if (value === 0) return
    writer.float64(Number(value))
    writer.tag(number, 1)
  }
}

const text: Content = {
  write: (writer, value) => {
    writer.text(String(value))
  },
}

/** A value of any form. */
const any: Content = {
  write: (writer, value) => wrapped(writer, 2, () => writer.text(`${writeJson(sorted(value))}\n`)),
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return Object.fromEntries(entries.map(([key, member]) => [key, sorted(member)]))
}

/** A message whose fields are the members of an object; members that begin with `x-` are extensions. */
function message(fields: Readonly<Record<string, Field>>, extensions?: number): Content {
  const names = Object.keys(fields).reverse()
  const extension = extensions === undefined ? undefined : many(extensions, named(any))
  return {
    write(writer, value) {
      const object = value as Definition
      if (extension !== undefined) {
        extension(
          writer,
          Object.entries(object).filter(([name]) => name.startsWith('x-')),
        )
      }
      for (const name of names) if (object[name] !== undefined) fields[name]?.(writer, object[name])
    },
  }
}

/** An entry of a map. */
function named(content: Content): Content {
  const value = one(2, content)
  const name = one(1, text)
  return {
    write(writer, entry) {
      const [key, member] = entry as readonly [string, unknown]
      value(writer, member)
      name(writer, key)
    },
  }
}

/** A map as the list of its entries. */
function map(number: number, content: Content): Content {
  const entries = many(number, named(content))
  return { write: (writer, value) => entries(writer, Object.entries(value as Definition)) }
}

/** A message with one field, chosen by the value. */
function choice(choose: (value: unknown) => Field): Content {
  return { write: (writer, value) => choose(value)(writer, value) }
}

const typeItem: Content = {
  write: (writer, value) => many(1, text)(writer, Array.isArray(value) ? value : [value]),
}

const schema: Content = {
  write: (writer, value) => schemaMessage.write(writer, value),
}

const additionalProperties = choice(value => (typeof value === 'boolean' ? flag(2) : one(1, schema)))

const externalDocs = message({ description: one(1, text), url: one(2, text) }, 3)

const schemaMessage: Content = message(
  {
    $ref: one(1, text),
    format: one(2, text),
    title: one(3, text),
    description: one(4, text),
    default: one(5, any),
    multipleOf: double(6),
    maximum: double(7),
    exclusiveMaximum: flag(8),
    minimum: double(9),
    exclusiveMinimum: flag(10),
    maxLength: whole(11),
    minLength: whole(12),
    pattern: one(13, text),
    maxItems: whole(14),
    minItems: whole(15),
    uniqueItems: flag(16),
    maxProperties: whole(17),
    minProperties: whole(18),
    required: many(19, text),
    enum: many(20, any),
    additionalProperties: one(21, additionalProperties),
    type: one(22, typeItem),
    items: one(23, { write: (writer, value) => one(1, schema)(writer, value) }),
    properties: one(25, map(1, schema)),
    externalDocs: one(29, externalDocs),
    example: one(30, any),
  },
  31,
)

const bodyParameter = message(
  {
    description: one(1, text),
    name: one(2, text),
    in: one(3, text),
    required: flag(4),
    schema: one(5, schema),
  },
  6,
)

const queryParameter = message(
  {
    required: flag(1),
    in: one(2, text),
    description: one(3, text),
    name: one(4, text),
    type: one(6, text),
    uniqueItems: flag(20),
  },
  23,
)

const pathParameter = message(
  {
    required: flag(1),
    in: one(2, text),
    description: one(3, text),
    name: one(4, text),
    type: one(5, text),
    uniqueItems: flag(19),
  },
  22,
)

const nonBodyParameter = choice(value =>
  (value as Definition).in === 'path' ? one(4, pathParameter) : one(3, queryParameter),
)

const parameter = choice(value =>
  (value as Definition).in === 'body' ? one(1, bodyParameter) : one(2, nonBodyParameter),
)

const reference = message({ $ref: one(1, text), description: one(2, text) })

const parametersItem = choice(value =>
  (value as Definition).$ref === undefined ? one(1, parameter) : one(2, reference),
)

const response = message({
  description: one(1, text),
  schema: one(2, { write: (writer, value) => one(1, schema)(writer, value) }),
})

const responses: Content = {
  write: (writer, value) => {
    const entries = Object.entries(value as Definition)
    many(1, named({ write: (inner, item) => one(1, response)(inner, item) }))(writer, entries)
  },
}

const operation = message(
  {
    tags: many(1, text),
    summary: one(2, text),
    description: one(3, text),
    externalDocs: one(4, externalDocs),
    operationId: one(5, text),
    produces: many(6, text),
    consumes: many(7, text),
    parameters: many(8, parametersItem),
    responses: one(9, responses),
    schemes: many(10, text),
    deprecated: flag(11),
  },
  13,
)

const pathItem = message(
  {
    get: one(2, operation),
    put: one(3, operation),
    post: one(4, operation),
    delete: one(5, operation),
    options: one(6, operation),
    head: one(7, operation),
    patch: one(8, operation),
    parameters: many(9, parametersItem),
  },
  10,
)

const apiKey = message({
  type: one(1, text),
  name: one(2, text),
  in: one(3, text),
  description: one(4, text),
})

const documentMessage = message(
  {
    swagger: one(1, text),
    info: one(2, message({ title: one(1, text), version: one(2, text), description: one(3, text) }, 7)),
    paths: one(8, map(2, pathItem)),
    definitions: one(9, map(1, schema)),
    parameters: one(10, map(1, parameter)),
    security: many(12, map(1, { write: (writer, value) => many(1, text)(writer, value) })),
    securityDefinitions: one(13, map(1, { write: (writer, value) => one(2, apiKey)(writer, value) })),
  },
  16,
)
