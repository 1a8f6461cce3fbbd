import type { ControllerDefinition, OperatorDefinition, RbacRule } from '@coxswain/runtime'
import type { Grant } from './policy-rules.ts'
import type { RecordedCall } from './recorded-calls.ts'

/** A grant, and the namespace that it is restricted to. */
export interface ScopedGrant extends Grant {
  /** False for cluster-scoped resources and URLs, which no Role can grant. @default true */
  readonly namespaced?: boolean
  readonly namespace?: string
}

interface Resource {
  readonly group: string
  readonly resource: string
  readonly namespaced?: boolean
}

const reads = ['get', 'list', 'watch']

/**
 * What a controller does: it reads what it watches, patches the finalizers it adds, applies and deletes its dependents and summarizes them
 * in the status, records events, and does what it declares.
 */
export function controllerGrants(controller: ControllerDefinition): ScopedGrant[] {
  const { sources, finalizers, dependents, rbac } = controller
  const grants: ScopedGrant[] = sources
    .filter(({ cluster }) => cluster === undefined)
    .map(({ kind }) => grant(kind, reads))
  const subject = controller.for
  if (subject && (finalizers.length > 0 || dependents)) grants.push(grant(subject, ['patch']))
  for (const { kind } of dependents?.dependents ?? []) grants.push(grant(kind, ['create', 'delete', 'patch']))
  if (subject && dependents) grants.push(grant(subject, ['patch'], 'status'))
  return [...grants, events, ...rbac.map(declaredGrant)]
}

/** What tasks and webhooks of an operator declare, and its indexes read. */
export function operatorGrants({ rbac, indexes }: OperatorDefinition): ScopedGrant[] {
  return [...indexes.map(({ kind }) => grant(kind, reads)), ...rbac.map(declaredGrant)]
}

/** What tests have recorded. */
export function recordedGrants(calls: readonly RecordedCall[]): ScopedGrant[] {
  return calls.map(({ verb, group, resource, subresource, namespace, name }) => ({
    ...grant({ group, resource }, [verb], subresource),
    ...(name !== undefined && { names: [name] }),
    ...(namespace !== undefined && { namespace }),
  }))
}

const events: ScopedGrant = { groups: [''], resources: ['events'], verbs: ['create', 'patch'] }

function grant(
  { group, resource, namespaced = true }: Resource,
  verbs: readonly string[],
  subresource?: string,
): ScopedGrant {
  return { groups: [group], resources: [join(resource, subresource)], verbs, namespaced }
}

function declaredGrant({ target, verbs, options }: RbacRule): ScopedGrant {
  const { subresource, names, namespace } = options
  if ('urls' in target) return { groups: [], resources: [], urls: target.urls, verbs, namespaced: false }
  return {
    ...grant(target, verbs, subresource),
    ...(names !== undefined && { names }),
    ...(namespace !== undefined && { namespace }),
  }
}

function join(resource: string, subresource: string | undefined): string {
  return subresource === undefined ? resource : `${resource}/${subresource}`
}
