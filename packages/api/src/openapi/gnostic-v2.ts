/**
 * The protobuf form of an OpenAPI v2 document that old clients ask for. Field numbers are those of gnostic's
 * `OpenAPIv2.proto`.
 */
import type { Definition } from '../table/definition.ts'
import {
  any,
  type Content,
  choice,
  double,
  encodeMembers,
  flag,
  type Layout,
  many,
  map,
  message,
  named,
  one,
  Part,
  text,
  whole,
} from './gnostic-fields.ts'
import type { Members } from './members.ts'

const typeItem: Content = {
  write: (writer, value) => many(1, text)(writer, Array.isArray(value) ? value : [value]),
}

const schema: Content = {
  write: (writer, value) => schemaMessage.write(writer, value),
}

const additionalProperties = choice(value => (typeof value === 'boolean' ? flag(2, true) : one(1, schema)))

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

const documentLayout: Layout = {
  swagger: one(1, text),
  info: one(2, message({ title: one(1, text), version: one(2, text), description: one(3, text) }, 7)),
  paths: new Part(8, one(2, named(pathItem))),
  definitions: new Part(9, one(1, named(schema))),
  parameters: one(10, map(1, parameter)),
  security: many(12, map(1, { write: (writer, value) => many(1, text)(writer, value) })),
  securityDefinitions: one(13, map(1, { write: (writer, value) => one(2, apiKey)(writer, value) })),
}

/** The pieces of the protobuf form of what `openApiV2` made, empty ones at places to pause. */
export function encodeOpenApiV2(document: Members): Generator<Uint8Array, void, undefined> {
  return encodeMembers(document, documentLayout)
}
