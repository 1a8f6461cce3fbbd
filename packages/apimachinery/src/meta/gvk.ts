import { MachineryError } from '../errors.ts'

export interface GroupVersion {
  /** Empty for the core group. */
  readonly group: string
  readonly version: string
}

export interface GroupKind {
  readonly group: string
  readonly kind: string
}

/** A resource of a group, at no particular version. */
export interface GroupResource {
  readonly group: string
  /** The plural, as in URLs. */
  readonly resource: string
}

/** A kind at one version. */
export interface GroupVersionKind extends GroupVersion, GroupKind {}

/** A resource at one version. */
export interface GroupVersionResource extends GroupVersion, GroupResource {}

/**
 * Splits an `apiVersion`: `v1` is version v1 of the core group, `apps/v1` is version v1 of apps. The empty string and
 * `/` give empty parts, as upstream.
 * @throws MachineryError `BadGroupVersion` when there is more than one slash
 */
export function parseGroupVersion(apiVersion: string): GroupVersion {
  if (apiVersion === '' || apiVersion === '/') return { group: '', version: '' }
  const slash = apiVersion.indexOf('/')
  if (slash < 0) return { group: '', version: apiVersion }
  if (apiVersion.indexOf('/', slash + 1) >= 0) {
    throw new MachineryError('BadGroupVersion', `unexpected GroupVersion string: ${apiVersion}`)
  }
  return { group: apiVersion.slice(0, slash), version: apiVersion.slice(slash + 1) }
}

/** The `apiVersion` of objects of this group and version: `apps/v1`, or `v1` for the core group. */
export function formatGroupVersion({ group, version }: GroupVersion): string {
  return group === '' ? version : `${group}/${version}`
}

/** `Deployment.apps`, or `Pod` for the core group: the form in which messages name a kind. */
export function formatGroupKind({ group, kind }: GroupKind): string {
  return group === '' ? kind : `${kind}.${group}`
}

/** `deployments.apps`, or `pods` for the core group: the form in which messages name a resource. */
export function formatGroupResource({ group, resource }: GroupResource): string {
  return group === '' ? resource : `${resource}.${group}`
}

/** `apps/v1, Kind=Deployment`; for the core group `/v1, Kind=Pod`. */
export function formatGroupVersionKind({ group, version, kind }: GroupVersionKind): string {
  return `${group}/${version}, Kind=${kind}`
}

/** `apps/v1, Resource=deployments`; for the core group `/v1, Resource=pods`. */
export function formatGroupVersionResource({ group, version, resource }: GroupVersionResource): string {
  return `${group}/${version}, Resource=${resource}`
}

/**
 * The group, version and kind of an object. An absent `apiVersion` or `kind` gives empty parts.
 * @throws MachineryError `BadGroupVersion`
 */
export function gvkOf(object: { readonly apiVersion?: string; readonly kind?: string }): GroupVersionKind {
  const { group, version } = parseGroupVersion(object.apiVersion ?? '')
  return { group, version, kind: object.kind ?? '' }
}
