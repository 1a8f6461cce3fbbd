import type { DynamicObject } from '@coxswain/client'

/** An object as a manifest has it. */
export interface Manifest {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: {
    readonly name: string
    readonly namespace?: string
    readonly labels?: Readonly<Record<string, string>>
  }
  readonly [field: string]: unknown
}

/** Which object: without its version. */
export interface ObjectName {
  readonly group: string
  readonly kind: string
  readonly namespace?: string
  readonly name: string
}

/** The name of an object that a manifest has, or the server. */
export function nameOf({ apiVersion, kind, metadata }: Manifest | DynamicObject): ObjectName {
  const [group, version] = (apiVersion ?? '').split('/')
  return {
    group: version === undefined ? '' : (group ?? ''),
    kind: kind ?? '',
    name: metadata.name,
    ...(metadata.namespace && { namespace: metadata.namespace }),
  }
}

/** As kubectl prints it: `deployment.apps/web`. */
export function formatName({ group, kind, name }: ObjectName): string {
  return `${kind.toLowerCase()}${group === '' ? '' : `.${group}`}/${name}`
}

/** `Deployment.apps`, as ApplySets have it. */
export function formatGroupKind({ group, kind }: Pick<ObjectName, 'group' | 'kind'>): string {
  return group === '' ? kind : `${kind}.${group}`
}

/** One text for each object, whatever the version it was read in. */
export function identify({ group, kind, namespace = '', name }: ObjectName): string {
  return `${group} ${kind} ${namespace} ${name}`
}
