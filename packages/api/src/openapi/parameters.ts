import { jsonFields, rowOf, type Table } from '../table/table.ts'
import type { Parameter } from './operation.ts'

function query(name: string, type: Parameter['type'], hash?: string): Parameter {
  return { name, in: 'query', type, ...(hash !== undefined && { shared: `${name}-${hash}` }) }
}

const dryRun = query('dryRun', 'string')
const fieldValidation = query('fieldValidation', 'string')
const pretty = query('pretty', 'string', 'tJGM1-ng')

export const nameParameter: Parameter = { name: 'name', in: 'path', type: 'string' }
export const namespaceParameter: Parameter = {
  name: 'namespace',
  in: 'path',
  type: 'string',
  shared: 'namespace-vgWSWtn3',
}
export const pathParameter: Parameter = { name: 'path', in: 'path', type: 'string', shared: 'path-z6Ciiujn' }

export const prettyParameter: Parameter = pretty

/** Of lists and watches. */
export const listParameters: readonly Parameter[] = [
  query('allowWatchBookmarks', 'boolean', 'HC2hJt-J'),
  query('continue', 'string', 'QfD61s0i'),
  query('fieldSelector', 'string', 'xIcQKXFG'),
  query('labelSelector', 'string', '5Zw57w4C'),
  query('limit', 'integer', '1NfNmdNH'),
  query('resourceVersion', 'string', '5WAnf1kx'),
  query('resourceVersionMatch', 'string', 't8XhRHeC'),
  query('sendInitialEvents', 'boolean', 'rLXlEK_k'),
  query('shardSelector', 'string', 'Kgyki_3_'),
  query('timeoutSeconds', 'integer', 'yvYezaOC'),
  query('watch', 'boolean', 'XNNPZGbK'),
]

export const writeParameters: readonly Parameter[] = [
  dryRun,
  query('fieldManager', 'string', 'Qy4HdaTW'),
  fieldValidation,
]

export const patchParameters: readonly Parameter[] = [
  dryRun,
  query('fieldManager', 'string', '7c6nTn1T'),
  fieldValidation,
  query('force', 'boolean', 'tOGGb0Yi'),
]

export const deleteParameters: readonly Parameter[] = [
  dryRun,
  query('gracePeriodSeconds', 'integer', '-K5HaBOS'),
  query('ignoreStoreReadErrorWithClusterBreakingPotential', 'boolean', 'QbNkfIqj'),
  query('orphanDependents', 'boolean', 'uRB25kX5'),
  query('propagationPolicy', 'string', '6jk3prlO'),
]

/** A delete of a collection selects, but does not watch. */
export const deleteCollectionParameters: readonly Parameter[] = [
  ...listParameters.filter(({ name }) => name !== 'allowWatchBookmarks' && name !== 'watch'),
  ...deleteParameters,
]

/** The hashes of the options that a subresource takes, by kind. */
const optionHashes: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  PodLogOptions: {
    container: '1GeXxFDC',
    follow: '9OIXh_2R',
    insecureSkipTLSVerifyBackend: 'gM00jVbe',
    limitBytes: 'zwd1RXuc',
    previous: '1jxDPu3y',
    sinceSeconds: 'vE2NLdnP',
    stream: 'l-48cgXv',
    tailLines: '9xQLWHMV',
    timestamps: 'c17fW1w_',
  },
  PodAttachOptions: {
    container: '_Q-EJ3nR',
    stderr: '26jJhFUR',
    stdin: 'sEFnN3IS',
    stdout: '005YMKE6',
    tty: 'g7MlET_l',
  },
  PodExecOptions: {
    command: 'Py3eQybp',
    container: 'i5dOmRiM',
    stderr: 'W_1TNlWc',
    stdin: 'PSzNhyUC',
    stdout: '-EZLRwV1',
    tty: 's0flW37O',
  },
  PodPortForwardOptions: { ports: '91KROJmm' },
  PodProxyOptions: { path: 'oPbzgLUj' },
  ServiceProxyOptions: { path: 'QCf0eosM' },
  NodeProxyOptions: { path: 'rFDtV0x9' },
}

/** The fields of an options kind as query parameters. A list is a parameter that may be repeated. */
export function optionParameters(table: Table, kind: string): readonly Parameter[] {
  return jsonFields(rowOf({ table, short: kind })).flatMap(field => {
    const hash = optionHashes[kind]?.[field.json]
    const type = field.type.form === 'list' ? field.type.element : field.type
    if (hash === undefined || type.form !== 'basic') return []
    return [query(field.json, parameterTypes[type.basic] ?? 'string', hash)]
  })
}

const parameterTypes: Readonly<Record<string, Parameter['type']>> = {
  bool: 'boolean',
  int32: 'integer',
  int64: 'integer',
}

export function byName(a: Parameter, b: Parameter): number {
  if (a.name !== b.name) return a.name < b.name ? -1 : 1
  return a.in < b.in ? -1 : 1
}
