import { isObject, type JsonObject } from '@coxswain/apimachinery/json'
import { type LabelSelector, parseGroupVersion } from '@coxswain/apimachinery/meta'
import { labelSelectorAsSelector } from '@coxswain/apimachinery/selectors'
import { parseServed } from '../../registry/convert.ts'
import { type Endpoint, objectKey } from '../../registry/registry.ts'
import type { AdmissionPorts } from '../ports.ts'

export interface ParamKind {
  readonly apiVersion: string
  readonly kind: string
}

export interface ParamRef {
  readonly name?: string
  readonly namespace?: string
  readonly selector?: LabelSelector
  readonly parameterNotFoundAction?: string
}

export function readParamKind(value: unknown): ParamKind | undefined {
  if (!isObject(value)) return undefined
  return { apiVersion: String(value.apiVersion ?? ''), kind: String(value.kind ?? '') }
}

/** Undefined for a kind that is not served. */
export function findParamEndpoint(
  { registry }: Pick<AdmissionPorts, 'registry'>,
  paramKind: ParamKind,
): Endpoint | undefined {
  const { group, version } = parseGroupVersion(paramKind.apiVersion)
  for (const resource of registry.resources()) {
    if (resource.info.group === group && resource.info.kind === paramKind.kind)
      return registry.find(group, version, resource.info.resource)
  }
  return undefined
}

export function unknownParamKind({ apiVersion, kind }: ParamKind): string {
  const version = apiVersion.includes('/') ? apiVersion : `/${apiVersion}`
  return `failed to find resource referenced by paramKind: '${version}, Kind=${kind}'`
}

/** The parameter objects to evaluate a policy with, one at a time; undefined for an evaluation without parameters. */
export type Params =
  | { readonly ok: true; readonly params: readonly (JsonObject | undefined)[] }
  | { readonly ok: false; readonly error: string }

/** `endpoint` is where the policy's parameters are served; undefined for a policy without parameters. */
export async function collectParams(
  endpoint: Endpoint | undefined,
  ref: ParamRef | undefined,
  namespace: string,
): Promise<Params> {
  if (!endpoint || !ref) return { ok: true, params: [undefined] }
  const { info } = endpoint.resource
  let from = ''
  if (info.namespaced) {
    from = ref.namespace || namespace
    if (from === '')
      return fail('cannot use namespaced paramRef in policy binding that matches cluster-scoped resources')
  } else if (ref.namespace)
    return fail('paramRef.namespace must not be provided for a cluster-scoped `paramKind`')
  if (!ref.name && !ref.selector) return fail('one of name or selector must be provided')
  const params: JsonObject[] = []
  for (const stored of findStored(endpoint, ref, from)) params.push(await parseServed(endpoint, stored))
  if (params.length === 0 && ref.parameterNotFoundAction === 'Deny')
    return fail('no params found for policy binding with `Deny` parameterNotFoundAction')
  return { ok: true, params }
}

function findStored({ resource }: Endpoint, { name, selector }: ParamRef, namespace: string) {
  const { cache, info } = resource
  if (name) {
    const found = cache.get(objectKey(resource, namespace, name))
    return found ? [found] : []
  }
  const wanted = labelSelectorAsSelector(selector)
  const all = info.namespaced ? cache.list(`${cache.prefix}${namespace}/`) : cache.list()
  return all.filter(({ labels }) => wanted.matches(labels))
}

function fail(error: string): Params {
  return { ok: false, error }
}
