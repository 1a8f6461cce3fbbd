/** The protobuf form of an OpenAPI v3 document. Field numbers are those of gnostic's `OpenAPIv3.proto`. */
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

const reference = message({ $ref: one(1, text), summary: one(2, text), description: one(3, text) })

/** Either a thing of its own or a reference to one. */
function orReference(content: Content): Content {
  return choice(value => ((value as Definition).$ref === undefined ? one(1, content) : one(2, reference)))
}

const plainSchema: Content = { write: (writer, value) => schemaMessage.write(writer, value) }
const schema = orReference(plainSchema)

const additionalProperties = choice(value => (typeof value === 'boolean' ? flag(2, true) : one(1, schema)))

/** Numbers, truth values and texts only: of other defaults the message says nothing. */
const defaultValue: Content = choice(value => {
  if (typeof value === 'number') return double(1, true)
  if (typeof value === 'boolean') return flag(2, true)
  return typeof value === 'string' ? one(3, text) : () => {}
})

const externalDocs = message({ description: one(1, text), url: one(2, text) }, 3)

const schemaMessage: Content = message(
  {
    nullable: flag(1),
    externalDocs: one(6, externalDocs),
    example: one(7, any),
    title: one(9, text),
    multipleOf: double(10),
    maximum: double(11),
    exclusiveMaximum: flag(12),
    minimum: double(13),
    exclusiveMinimum: flag(14),
    maxLength: whole(15),
    minLength: whole(16),
    pattern: one(17, text),
    maxItems: whole(18),
    minItems: whole(19),
    uniqueItems: flag(20),
    maxProperties: whole(21),
    minProperties: whole(22),
    required: many(23, text),
    enum: many(24, any),
    type: one(25, text),
    allOf: many(26, schema),
    oneOf: many(27, schema),
    anyOf: many(28, schema),
    not: one(29, plainSchema),
    items: one(30, { write: (writer, value) => one(1, schema)(writer, value) }),
    properties: one(31, map(1, schema)),
    additionalProperties: one(32, additionalProperties),
    default: one(33, defaultValue),
    description: one(34, text),
    format: one(35, text),
  },
  36,
)

const content = map(1, message({ schema: one(1, schema), example: one(2, any) }, 5))

const parameter = message(
  {
    name: one(1, text),
    in: one(2, text),
    description: one(3, text),
    required: flag(4),
    schema: one(10, schema),
    content: one(13, content),
  },
  14,
)

const requestBody = message({ description: one(1, text), content: one(2, content), required: flag(3) }, 4)

const response = message({ description: one(1, text), content: one(3, content) }, 5)

const operation = message(
  {
    tags: many(1, text),
    summary: one(2, text),
    description: one(3, text),
    externalDocs: one(4, externalDocs),
    operationId: one(5, text),
    parameters: many(6, orReference(parameter)),
    requestBody: one(7, orReference(requestBody)),
    responses: one(8, map(2, orReference(response))),
    deprecated: flag(10),
  },
  13,
)

const pathItem = message(
  {
    summary: one(2, text),
    description: one(3, text),
    get: one(4, operation),
    put: one(5, operation),
    post: one(6, operation),
    delete: one(7, operation),
    options: one(8, operation),
    head: one(9, operation),
    patch: one(10, operation),
    parameters: many(13, orReference(parameter)),
  },
  14,
)

const securityScheme = message(
  { type: one(1, text), description: one(2, text), name: one(3, text), in: one(4, text) },
  9,
)

const documentLayout: Layout = {
  openapi: one(1, text),
  info: one(2, message({ title: one(1, text), description: one(2, text), version: one(6, text) }, 7)),
  paths: new Part(4, one(1, named(pathItem))),
  components: new Part(5, {
    schemas: new Part(1, one(1, named(schema))),
    securitySchemes: one(7, map(1, orReference(securityScheme))),
  }),
}

/** The pieces of the protobuf form of what `openApiV3` made, empty ones at places to pause. */
export function encodeOpenApiV3(document: Members): Generator<Uint8Array, void, undefined> {
  return encodeMembers(document, documentLayout)
}
