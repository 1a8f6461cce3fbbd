import { builtinResources } from '@coxswain/api'
import type { ControllerDefinition, OperatorDefinition, RbacRule, RecordedCall } from '@coxswain/runtime'
import type { Grant } from './policy-rules.ts'

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
 * in the status, records events, and does what it declares. Reads are restricted as those that tests recorded.
 */
export function controllerGrants(
  controller: ControllerDefinition,
  calls: readonly RecordedCall[] = [],
): ScopedGrant[] {
  const { sources, finalizers, dependents, rbac } = controller
  const grants: ScopedGrant[] = sources
    .filter(({ cluster }) => cluster === undefined)
    .flatMap(({ kind }) => readGrants(kind, calls))
  const subject = controller.for
  if (subject && (finalizers.length > 0 || dependents)) grants.push(grant(subject, ['patch']))
  for (const { kind } of dependents?.dependents ?? []) grants.push(grant(kind, ['create', 'delete', 'patch']))
  if (subject && dependents) grants.push(grant(subject, ['patch'], 'status'))
  return [...grants, events, ...rbac.map(declaredGrant)]
}

/** Reads of a kind: of the namespaces and objects that recorded watches were restricted to, if all of them were. */
function readGrants(kind: Resource, calls: readonly RecordedCall[]): ScopedGrant[] {
  const watches = calls.filter(
    ({ verb, group, resource }) => verb === 'watch' && group === kind.group && resource === kind.resource,
  )
  const isRestricted = ({ namespace, name }: RecordedCall) => namespace !== undefined || name !== undefined
  if (watches.length === 0 || !watches.every(isRestricted)) return [grant(kind, reads)]
  return watches.map(({ namespace, name }) => ({
    ...grant(kind, reads),
    ...(name !== undefined && { names: [name] }),
    ...(namespace !== undefined && { namespace }),
  }))
}

/** What tasks and webhooks of an operator declare, and its indexes read. */
export function operatorGrants({ rbac, indexes }: OperatorDefinition): ScopedGrant[] {
  return [...indexes.map(({ kind }) => grant(kind, reads)), ...rbac.map(declaredGrant)]
}

/** What tests have recorded, without what is granted already. */
export function recordedGrants(
  calls: readonly RecordedCall[],
  granted: readonly ScopedGrant[],
): ScopedGrant[] {
  return calls
    .filter(call => !granted.some(each => grantsCall(each, call)))
    .map(({ verb, group, resource, subresource, namespace, name }) => ({
      ...grant(
        { group, resource, namespaced: !isClusterScoped(group, resource, granted) },
        [verb],
        subresource,
      ),
      ...(name !== undefined && { names: [name] }),
      ...(namespace !== undefined && { namespace }),
    }))
}

/** Whether a grant allows all that a recorded call stands for. */
export function grantsCall(grant: ScopedGrant, call: RecordedCall): boolean {
  const { verb, group, resource, subresource, namespace, name } = call
  const has = (values: readonly string[], value: string) => values.includes(value) || values.includes('*')
  return (
    has(grant.verbs, verb) &&
    has(grant.groups, group) &&
    has(grant.resources, join(resource, subresource)) &&
    (grant.namespace === undefined || grant.namespace === namespace) &&
    (grant.names === undefined || (name !== undefined && grant.names.includes(name)))
  )
}

function isClusterScoped(group: string, resource: string, granted: readonly ScopedGrant[]): boolean {
  const known =
    builtinResources().find(each => each.group === group && each.resource === resource) ??
    granted.find(each => each.groups.includes(group) && each.resources.includes(resource))
  return known?.namespaced === false
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
