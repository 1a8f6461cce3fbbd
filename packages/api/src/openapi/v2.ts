import type { ResourceInfo } from '@coxswain/apimachinery/kinds'
import type { Definition } from '../table/definition.ts'
import { customDefinitions } from './custom.ts'
import { definitionsOf } from './definitions.ts'
import { allRoutes, sortedByPath, typesOf } from './document.ts'
import { fixedRoutes } from './fixed-routes.ts'
import { collectMembers, Members } from './members.ts'
import { type Operation, type Parameter, type PathItem, splitParameters } from './operation.ts'

const prefix = '#/definitions/'
const machinery = 'io.k8s.apimachinery.'
/** Upstream's names of the two bodies that many operations share. */
const sharedBodies: Readonly<Record<string, string>> = {
  'io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions': 'body-2Y1dVQaQ',
  'io.k8s.apimachinery.pkg.apis.meta.v1.Patch': 'body-78PwaGsr',
}

/** The document of `/openapi/v2` for `resources`, built-in and custom. */
export function openApiV2(resources: readonly ResourceInfo[]): Members {
  return new Members(function* () {
    const items = Object.values(fixedRoutes)
    for (const more of allRoutes(resources)) {
      for (const item of more) items.push(item)
      yield undefined
    }
    const parameters = new Map<string, Definition>()
    yield ['swagger', '2.0']
    yield ['info', { title: 'Kubernetes', version: '1.36' }]
    yield [
      'paths',
      new Members(function* () {
        for (const item of sortedByPath(items)) yield [item.path, pathOf(item, parameters)]
      }),
    ]
    yield [
      'definitions',
      definitionsOf(typesOf(items), {
        version: 2,
        prefix,
        custom: customDefinitions(resources, { version: 2, prefix }),
        isShown: () => true,
      }),
    ]
    yield ['parameters', Object.fromEntries([...parameters].sort(([a], [b]) => (a < b ? -1 : 1)))]
    yield ['securityDefinitions', { BearerToken: { type: 'apiKey', name: 'authorization', in: 'header' } }]
    yield ['security', [{ BearerToken: [] }]]
  })
}

/** The same in one piece. */
export function buildOpenApiV2(resources: readonly ResourceInfo[]): Definition {
  return collectMembers(openApiV2(resources))
}

function pathOf(item: PathItem, parameters: Map<string, Definition>): Definition {
  const { common, own } = splitParameters(item)
  const result: Definition = {}
  for (const operation of item.operations) {
    result[operation.method] = operationOf(operation, own(operation), parameters)
  }
  if (common.length > 0) result.parameters = common.map(one => parameterOf(one, parameters))
  return result
}

function operationOf(
  operation: Operation,
  own: readonly Parameter[],
  parameters: Map<string, Definition>,
): Definition {
  const list = own.map(one => parameterOf(one, parameters))
  if (operation.body) list.unshift(bodyOf(operation.body, parameters))
  const responses: Record<string, Definition> = {}
  for (const [code, type] of Object.entries(operation.responses)) {
    responses[code] = { description: codes[code], schema: schemaOf(type) }
  }
  return {
    ...(operation.consumes && { consumes: operation.consumes }),
    produces: operation.produces,
    schemes: ['https'],
    tags: [operation.tag],
    operationId: operation.id,
    ...(list.length > 0 && { parameters: list }),
    responses: { ...responses, 401: { description: 'Unauthorized' } },
    ...(operation.action && { 'x-kubernetes-action': operation.action }),
    ...(operation.kind && { 'x-kubernetes-group-version-kind': operation.kind }),
  }
}

/** A response must have a description. */
export const codes: Readonly<Record<string, string>> = { 200: 'OK', 201: 'Created', 202: 'Accepted' }

function schemaOf(type: string): Definition {
  return type === 'string' ? { type: 'string' } : { $ref: prefix + type }
}

function bodyOf(body: { type: string; required: boolean }, parameters: Map<string, Definition>): Definition {
  const definition: Definition = {
    name: 'body',
    in: 'body',
    ...(body.required && { required: true }),
    schema: { $ref: prefix + body.type },
  }
  const shared = body.type.startsWith(machinery) ? sharedBodies[body.type] : undefined
  return shared === undefined ? definition : share(shared, definition, parameters)
}

function parameterOf(parameter: Parameter, parameters: Map<string, Definition>): Definition {
  const definition: Definition = {
    uniqueItems: true,
    type: parameter.type,
    name: parameter.name,
    in: parameter.in,
    ...(parameter.in === 'path' && { required: true }),
  }
  return parameter.shared === undefined ? definition : share(parameter.shared, definition, parameters)
}

function share(name: string, definition: Definition, parameters: Map<string, Definition>): Definition {
  parameters.set(name, definition)
  return { $ref: `#/parameters/${name}` }
}
