import type { JsonObject } from '@coxswain/apimachinery/json'

/** A request of the operator that changes something. */
export interface WriteRecord {
  /** From 1, over all replicas and restarts. */
  readonly number: number
  /** Virtual milliseconds since the beginning of the run. */
  readonly time: number
  readonly replica: number
  readonly method: string
  /** As on the wire, without the query. */
  readonly path: string
  readonly body: string | undefined
  /** Undefined when there was no response. */
  status: number | undefined
  /** The object of the response. */
  object: JsonObject | undefined
  /** The line of the operator's source that sent it, `FILE:LINE`; undefined if it is not known. */
  readonly line: string | undefined
  /** The store's revision when it arrived. */
  readonly revision: number
}

/** What happened in a run, in order. */
export type TraceEntry =
  | ({ readonly entry: 'write' } & WriteRecord)
  | { readonly entry: 'fault' | 'late' | 'service'; readonly time: number; readonly text: string }
  | { readonly entry: 'action'; readonly time: number; readonly text: string }
  | { readonly entry: 'start' | 'stop'; readonly time: number; readonly replica: number }
  | {
      readonly entry: 'reconcile'
      readonly time: number
      readonly replica: number
      readonly controller: string
      readonly key: string
      readonly result: string
      readonly error: string | undefined
    }

/** `POST configmaps/default`: a write in few words. */
export function describeWrite({ method, path }: Pick<WriteRecord, 'method' | 'path'>): string {
  return `${verbs[method] ?? method.toLowerCase()} ${shortPath(path)}`
}

const verbs: Readonly<Record<string, string>> = {
  POST: 'create in',
  PUT: 'update of',
  PATCH: 'patch of',
  DELETE: 'delete of',
}

/** `/apis/apps/v1/namespaces/default/deployments/x/status` as `deployments default/x/status`. */
function shortPath(path: string): string {
  const { resource, namespace, name, subresource } = parseApiPath(path)
  const key = [namespace, name, subresource].filter(part => part !== undefined).join('/')
  return key === '' ? resource : `${resource} ${key}`
}

/** The parts of a path of the Kubernetes API. */
export interface ApiPath {
  readonly group: string
  readonly version: string
  readonly resource: string
  readonly namespace: string | undefined
  readonly name: string | undefined
  readonly subresource: string | undefined
}

export function parseApiPath(path: string): ApiPath {
  const parts = path.split('/').slice(1).map(decodeURIComponent)
  const isCore = parts[0] === 'api'
  const [group, version] = isCore ? ['', parts[1] ?? ''] : [parts[1] ?? '', parts[2] ?? '']
  let rest = parts.slice(isCore ? 2 : 3)
  let namespace: string | undefined
  if (rest[0] === 'namespaces' && rest.length > 2 && !['status', 'finalize'].includes(rest[2] ?? '')) {
    namespace = rest[1]
    rest = rest.slice(2)
  }
  const [resource = '', name, ...sub] = rest
  return {
    group,
    version,
    resource,
    namespace,
    name,
    subresource: sub.length === 0 ? undefined : sub.join('/'),
  }
}

/** `apps/deployments`, or `pods` in the core group: how faults name a resource. */
export function resourceOf({ group, resource }: Pick<ApiPath, 'group' | 'resource'>): string {
  return group === '' ? resource : `${group}/${resource}`
}
