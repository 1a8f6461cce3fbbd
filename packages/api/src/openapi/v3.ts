import type { ResourceInfo } from '@coxswain/apimachinery/kinds'
import { isBuiltinGroup, servedGroups } from '../served-groups.ts'
import type { Definition } from '../table/definition.ts'
import { customDefinitions } from './custom.ts'
import { definitionsOf, type GroupVersionKind } from './definitions.ts'
import { groupVersionRoutes, sortedByPath, typesOf } from './document.ts'
import { fixedRoutes, groupRoute } from './fixed-routes.ts'
import { Members } from './members.ts'
import { type Operation, type Parameter, type PathItem, splitParameters } from './operation.ts'
import { codes } from './v2.ts'

const prefix = '#/components/schemas/'

/** The names of the documents below `/openapi/v3`, such as `api/v1` and `apis/apps/v1`, sorted. */
export function openApiV3Names(resources: readonly ResourceInfo[]): string[] {
  const names = Object.keys(fixedRoutes)
  for (const [group, versions] of servedGroups(resources)) {
    if (group !== '' && isBuiltinGroup(group)) names.push(`apis/${group}`)
    for (const version of versions) names.push(group === '' ? `api/${version}` : `apis/${group}/${version}`)
  }
  return names.sort()
}

/**
 * One document below `/openapi/v3`, by its name; undefined when there is none of that name. Of `resources` only those of
 * its group count.
 */
export function openApiV3(resources: readonly ResourceInfo[], name: string): Members | undefined {
  const fixed = Object.hasOwn(fixedRoutes, name) ? fixedRoutes[name] : undefined
  if (fixed !== undefined) return documentOf(resources, () => [[fixed]], { group: '', version: '' })
  const { group, version } = openApiV3Place(name)
  const versions = group === undefined ? undefined : servedGroups(resources).get(group)
  if (group === undefined || versions === undefined) return undefined
  if (version === undefined) {
    if (!isBuiltinGroup(group)) return undefined
    return documentOf(resources, () => [[groupRoute(group)]], { group, version: '' })
  }
  if (!versions.includes(version)) return undefined
  return documentOf(resources, () => groupVersionRoutes(resources, group, version), { group, version })
}

/** The group and version that a document is about; both undefined where it is about none. */
export function openApiV3Place(name: string): { group?: string; version?: string } {
  const [root, first, second, ...more] = name.split('/')
  if (root === 'api' && first !== undefined && second === undefined) return { group: '', version: first }
  if (root !== 'apis' || first === undefined || first === '' || more.length > 0) return {}
  return second === undefined ? { group: first } : { group: first, version: second }
}

function documentOf(
  resources: readonly ResourceInfo[],
  routes: () => Iterable<readonly PathItem[]>,
  of: { group: string; version: string },
): Members {
  return new Members(function* () {
    const items: PathItem[] = []
    for (const more of routes()) {
      for (const item of more) items.push(item)
      yield undefined
    }
    const types = typesOf(items)
    const schemas = definitionsOf(types, {
      version: 3,
      prefix,
      custom: customDefinitions(resources, { version: 3, prefix }),
      isShown: kind => isOf(kind, of),
    })
    yield ['openapi', '3.0.0']
    yield ['info', { title: 'Kubernetes', version: '1.36' }]
    yield [
      'paths',
      new Members(function* () {
        for (const item of sortedByPath(items)) yield [item.path, pathOf(item)]
      }),
    ]
    yield [
      'components',
      new Members(function* () {
        if (types.size > 0) yield ['schemas', schemas]
        yield ['securitySchemes', { BearerToken: { type: 'apiKey', name: 'authorization', in: 'header' } }]
      }),
    ]
  })
}

/** A type that every group registers shows only the document's own; other types are of one group anyway. */
function isOf(kind: GroupVersionKind, of: { group: string; version: string }): boolean {
  if (kind.kind !== 'DeleteOptions' && kind.kind !== 'WatchEvent') return true
  return (
    (kind.group === '' && kind.version === 'v1') || (kind.group === of.group && kind.version === of.version)
  )
}

function pathOf(item: PathItem): Definition {
  const { common, own } = splitParameters(item)
  const result: Definition = {}
  for (const operation of item.operations) result[operation.method] = operationOf(operation, own(operation))
  if (common.length > 0) result.parameters = common.map(parameterOf)
  return result
}

function operationOf(operation: Operation, own: readonly Parameter[]): Definition {
  const responses: Record<string, Definition> = {}
  for (const [code, type] of Object.entries(operation.responses)) {
    responses[code] = { description: codes[code], content: contentOf(operation.produces, type) }
  }
  const { body, kind } = operation
  return {
    tags: [operation.tag],
    operationId: operation.id,
    ...(own.length > 0 && { parameters: own.map(parameterOf) }),
    ...(body && {
      requestBody: {
        content: contentOf(operation.consumes ?? [], body.type),
        ...(body.required && { required: true }),
      },
    }),
    responses: { ...responses, 401: { description: 'Unauthorized' } },
    ...(operation.action && { 'x-kubernetes-action': operation.action }),
    ...(kind && { 'x-kubernetes-group-version-kind': kind }),
  }
}

function contentOf(types: readonly string[], type: string): Definition {
  const schema = type === 'string' ? { type: 'string' } : { $ref: prefix + type }
  return Object.fromEntries([...types].sort().map(mediaType => [mediaType, { schema }]))
}

function parameterOf({ name, in: place, type }: Parameter): Definition {
  return {
    name,
    in: place,
    ...(place === 'path' && { required: true }),
    schema: { type, uniqueItems: true },
  }
}
