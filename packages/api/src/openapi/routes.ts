import type { ResourceInfo, SubresourceInfo, VersionInfo } from '@coxswain/apimachinery'
import { findTable } from '../registry.ts'
import { isBuiltinResource, returnsDeletedInOpenApi } from '../resources/builtin-resources.ts'
import { typeRows } from '../table/table.ts'
import { customTypeName, operationPrefix, operationTag, title } from './names.ts'
import type { Method, Operation, Parameter, PathItem } from './operation.ts'
import {
  byName,
  deleteCollectionParameters,
  deleteParameters,
  listParameters,
  nameParameter,
  namespaceParameter,
  optionParameters,
  patchParameters,
  pathParameter,
  prettyParameter,
  writeParameters,
} from './parameters.ts'

const meta = 'io.k8s.apimachinery.pkg.apis.meta.v1.'
const json = 'application/json'
const yaml = 'application/yaml'
const protobuf = 'application/vnd.kubernetes.protobuf'
const any: readonly string[] = ['*/*']
const encodings: readonly string[] = [json, yaml, protobuf]
const streams: readonly string[] = [`${json};stream=watch`, `${protobuf};stream=watch`]
const patchTypes: readonly string[] = [
  'application/json-patch+json',
  'application/merge-patch+json',
  'application/strategic-merge-patch+json',
  'application/apply-patch+yaml',
]

/** The full name of the type of a kind. */
export function typeNameOf(group: string, version: string, kind: string): string {
  const table = findTable(group, version)
  const row = table && typeRows(table).get(kind)
  return row?.name ?? customTypeName(group, version, kind)
}

/** Everything that is the same for the operations of one resource at one version. */
interface Context {
  readonly info: ResourceInfo
  readonly version: VersionInfo
  readonly prefix: string
  readonly tag: string
  /** The full name of its type. */
  readonly type: string
  readonly isBuiltin: boolean
}

/** The paths of one resource at one version. */
export function resourceRoutes(info: ResourceInfo, version: VersionInfo): PathItem[] {
  const context: Context = {
    info,
    version,
    prefix: operationPrefix(info.group, version.name),
    tag: operationTag(info.group, version.name),
    type: typeNameOf(info.group, version.name, info.kind),
    isBuiltin: isBuiltinResource(info),
  }
  const base = info.group === '' ? `/api/${version.name}` : `/apis/${info.group}/${version.name}`
  const scope = info.namespaced ? `${base}/namespaces/{namespace}` : base
  const collection = `${scope}/${info.resource}`
  const items = [
    collectionRoutes(context, collection),
    itemRoutes(context, `${collection}/{name}`),
    ...version.subresources.flatMap(one => subresourceRoutes(context, `${collection}/{name}`, one)),
  ]
  if (info.namespaced && has(context, 'list')) {
    const id = `list${context.prefix}${info.kind}ForAllNamespaces`
    items.push({
      path: `${base}/${info.resource}`,
      operations: [list(context, { id, parameters: allPretty(listParameters) })],
    })
  }
  if (has(context, 'watch') && context.isBuiltin)
    for (const item of watchRoutes(context, base)) items.push(item)
  return items.filter(item => item.operations.length > 0)
}

function has({ version }: Context, verb: VersionInfo['verbs'][number]): boolean {
  return version.verbs.includes(verb)
}

function allPretty(parameters: readonly Parameter[]): readonly Parameter[] {
  return [...parameters, prettyParameter]
}

/** `NamespacedPod` or `Node`. */
function subject({ info }: Context): string {
  return info.namespaced ? `Namespaced${info.kind}` : info.kind
}

interface Draft {
  readonly id: string
  readonly parameters: readonly Parameter[]
}

function operation(
  context: Context,
  method: Method,
  rest: Draft & Pick<Operation, 'body' | 'responses'> & { action: string } & Partial<Operation>,
): Operation {
  const { info, version } = context
  const consumes = context.isBuiltin ? any : [json, yaml]
  const produces = context.isBuiltin ? encodings : [json, yaml]
  return {
    method,
    tag: context.tag,
    consumes,
    produces,
    kind: { group: info.group, version: version.name, kind: info.kind },
    ...rest,
    parameters: [...rest.parameters].sort(byName),
  }
}

function list(context: Context, draft: Draft): Operation {
  return operation(context, 'get', {
    ...draft,
    action: 'list',
    ...(context.isBuiltin && { produces: [...encodings, ...streams] }),
    responses: { 200: typeNameOf(context.info.group, context.version.name, context.info.listKind) },
  })
}

function scopeParameters({ info }: Context): readonly Parameter[] {
  return info.namespaced ? [namespaceParameter] : []
}

function collectionRoutes(context: Context, path: string): PathItem {
  const { prefix, type } = context
  const shared = allPretty(scopeParameters(context))
  const name = subject(context)
  const operations: Operation[] = []
  if (has(context, 'list')) {
    operations.push(list(context, { id: `list${prefix}${name}`, parameters: [...shared, ...listParameters] }))
  }
  if (has(context, 'create')) {
    operations.push(
      create(context, { id: `create${prefix}${name}`, parameters: [...shared, ...writeParameters] }, type),
    )
  }
  if (has(context, 'deletecollection')) {
    const options = context.isBuiltin
      ? { own: deleteCollectionParameters, body: { type: `${meta}DeleteOptions`, required: false } }
      : { own: listParameters } // upstream's documents of custom resources know no options here
    operations.push(
      operation(context, 'delete', {
        id: `delete${prefix}Collection${name}`,
        action: 'deletecollection',
        parameters: [...shared, ...options.own],
        ...(options.body && { body: options.body }),
        responses: { 200: `${meta}Status` },
      }),
    )
  }
  return { path, operations }
}

function create(context: Context, draft: Draft, type: string): Operation {
  return operation(context, 'post', {
    ...draft,
    action: 'post',
    body: { type, required: true },
    responses: { 200: type, 201: type, 202: type },
  })
}

function read(context: Context, draft: Draft, type: string): Operation {
  return operation(context, 'get', { ...draft, action: 'get', responses: { 200: type } })
}

function replace(context: Context, draft: Draft, type: string): Operation {
  return operation(context, 'put', {
    ...draft,
    action: 'put',
    body: { type, required: true },
    responses: { 200: type, 201: type },
  })
}

function patch(context: Context, draft: Draft, type: string): Operation {
  const custom = patchTypes.filter(one => !one.includes('strategic'))
  return operation(context, 'patch', {
    ...draft,
    action: 'patch',
    consumes: context.isBuiltin ? patchTypes : custom,
    body: { type: `${meta}Patch`, required: true },
    responses: context.isBuiltin ? { 200: type, 201: type } : { 200: type },
  })
}

function itemRoutes(context: Context, path: string): PathItem {
  const { prefix, type } = context
  const shared = allPretty([...scopeParameters(context), nameParameter])
  const draft = (verb: string, own: readonly Parameter[]): Draft => ({
    id: `${verb}${prefix}${subject(context)}`,
    parameters: [...shared, ...own],
  })
  const operations: Operation[] = []
  if (has(context, 'get')) {
    operations.push(read(context, draft('read', context.isBuiltin ? [] : [resourceVersionParameter]), type))
  }
  if (has(context, 'update')) operations.push(replace(context, draft('replace', writeParameters), type))
  if (has(context, 'delete')) {
    const deleted = returnsDeletedInOpenApi(context.info) ? type : `${meta}Status`
    operations.push(
      operation(context, 'delete', {
        ...draft('delete', deleteParameters),
        action: 'delete',
        body: { type: `${meta}DeleteOptions`, required: false },
        responses: { 200: deleted, 202: deleted },
      }),
    )
  }
  if (has(context, 'patch')) operations.push(patch(context, draft('patch', patchParameters), type))
  return { path, operations }
}

const resourceVersionParameter: Parameter = listParameters.find(
  ({ name }) => name === 'resourceVersion',
) as Parameter

function subresourceRoutes(parent: Context, base: string, sub: SubresourceInfo): PathItem[] {
  const kind = {
    group: sub.group ?? parent.info.group,
    version: sub.version ?? parent.version.name,
    kind: sub.kind ?? parent.info.kind,
  }
  const path = `${base}/${sub.name}`
  const options = connectOptions(kind.kind)
  if (options !== undefined) return connectRoutes(parent, { path, sub, kind: kind.kind })
  const type = typeNameOf(kind.group, kind.version, kind.kind)
  const shared = allPretty([...scopeParameters(parent), nameParameter])
  const draft = (verb: string, own: readonly Parameter[]): Draft => ({
    id: `${verb}${parent.prefix}${subject(parent)}${title(sub.name)}`,
    parameters: [...shared, ...own],
  })
  const operations: Operation[] = []
  for (const verb of ['get', 'create', 'update', 'patch'] as const) {
    if (!sub.verbs.includes(verb)) continue
    if (verb === 'get') {
      const extra = parent.isBuiltin ? [] : [resourceVersionParameter]
      operations.push(sub.name === 'log' ? readLog(parent, draft) : read(parent, draft('read', extra), type))
    } else if (verb === 'create') operations.push(create(parent, draft('create', writeParameters), type))
    else if (verb === 'update') operations.push(replace(parent, draft('replace', writeParameters), type))
    else operations.push(patch(parent, draft('patch', patchParameters), type))
  }
  // Of a custom resource's scale, upstream tells the resource's own kind.
  return [{ path, operations: parent.isBuiltin ? operations.map(one => ({ ...one, kind })) : operations }]
}

function readLog(parent: Context, draft: (verb: string, own: readonly Parameter[]) => Draft): Operation {
  const table = findTable(parent.info.group, parent.version.name)
  const options = table ? optionParameters(table, 'PodLogOptions') : []
  return { ...read(parent, draft('read', options), 'string'), produces: ['text/plain', ...encodings] }
}

function connectOptions(kind: string): string | undefined {
  return /^(Pod|Service|Node)(Attach|Exec|PortForward|Proxy)Options$/.test(kind) ? kind : undefined
}

const connectMethods: Readonly<Record<string, readonly Method[]>> = {
  proxy: ['get', 'put', 'post', 'delete', 'options', 'head', 'patch'],
}

function connectRoutes(
  parent: Context,
  target: { path: string; sub: SubresourceInfo; kind: string },
): PathItem[] {
  const { group } = parent.info
  const version = parent.version.name
  const table = findTable(group, version)
  const options = table ? optionParameters(table, target.kind) : []
  const parameters = [...scopeParameters(parent), nameParameter, ...options]
  const build = (path: string, suffix: string, extra: readonly Parameter[]): PathItem => ({
    path,
    operations: (connectMethods[target.sub.name] ?? ['get', 'post']).map(method =>
      operation(parent, method, {
        id: `connect${parent.prefix}${title(method)}${subject(parent)}${title(target.sub.name)}${suffix}`,
        action: 'connect',
        produces: any,
        parameters: [...parameters, ...extra],
        responses: { 200: 'string' },
        kind: { group, version, kind: target.kind },
      }),
    ),
  })
  const plain = build(target.path, '', [])
  if (target.sub.name !== 'proxy') return [plain]
  return [plain, build(`${target.path}/{path}`, 'WithPath', [pathParameter])]
}

/** The paths from before `?watch=1`, which built-in resources still have. */
function watchRoutes(context: Context, base: string): PathItem[] {
  const { info, prefix } = context
  const build = (path: string, draft: Draft, action: string): PathItem => ({
    path: `${base}/watch${path}`,
    operations: [
      operation(context, 'get', {
        id: `watch${prefix}${draft.id}`,
        parameters: allPretty([...listParameters, ...draft.parameters]),
        action,
        produces: [...encodings, ...streams],
        responses: { 200: `${meta}WatchEvent` },
      }),
    ],
  })
  const scope = info.namespaced ? '/namespaces/{namespace}' : ''
  const name = subject(context)
  const items = [
    build(
      `${scope}/${info.resource}`,
      { id: `${name}List`, parameters: scopeParameters(context) },
      'watchlist',
    ),
    build(
      `${scope}/${info.resource}/{name}`,
      { id: name, parameters: [...scopeParameters(context), nameParameter] },
      'watch',
    ),
  ]
  if (!info.namespaced) return items
  const all = { id: `${info.kind}ListForAllNamespaces`, parameters: [] }
  return [...items, build(`/${info.resource}`, all, 'watchlist')]
}
