import type { JsonObject } from '@coxswain/apimachinery/json'
import type { GroupVersionKind, GroupVersionResource } from '@coxswain/apimachinery/meta'
import type { Endpoint } from '../registry/registry.ts'
import type { RequestContext, ResourceContext } from '../request/context.ts'
import type { DeleteOptions } from '../request/write-options.ts'
import type { Attributes } from './attributes.ts'

const optionsVersion = 'meta.k8s.io/v1'

type Given = Pick<Attributes, 'server' | 'operation' | 'object' | 'oldObject' | 'dryRun'> &
  Partial<Pick<Attributes, 'subresource' | 'namespace' | 'name' | 'kind' | 'options'>>

/** The parts of a request that admission sees; whatever is not set is taken from the request's path. */
export function createAttributes(
  context: Pick<ResourceContext, 'user'> & Partial<ResourceContext>,
  { resource, version }: Endpoint,
  given: Given,
): Attributes {
  const { info, warnings, auditAnnotations, request } = context
  const attributes = {
    subresource: info?.subresource ?? '',
    namespace: info?.namespace ?? '',
    name: info?.name ?? '',
    ...given,
    resource,
    version,
    user: context.user,
    warn: (text: string) => void warnings?.push(text),
    annotate: (key: string, value: string) => {
      if (auditAnnotations && !auditAnnotations.has(key)) auditAnnotations.set(key, value)
    },
    // A getter: a request from a socket creates its signal on first use.
    get signal() {
      return request?.signal
    },
  }
  return attributes as Attributes
}

/** The query of a write as options. A patch counts as the create or update that it results in. */
export function writeOptionsObject(
  { query }: Pick<RequestContext, 'query'>,
  kind: 'CreateOptions' | 'UpdateOptions',
): JsonObject {
  const dryRun = query.getAll('dryRun')
  const fieldManager = query.get('fieldManager') ?? ''
  const fieldValidation = query.get('fieldValidation') ?? ''
  return {
    kind,
    apiVersion: optionsVersion,
    ...(dryRun.length > 0 && { dryRun }),
    ...(fieldManager !== '' && { fieldManager }),
    ...(fieldValidation !== '' && { fieldValidation }),
  }
}

export function deleteOptionsObject(options: DeleteOptions): JsonObject {
  const { gracePeriodSeconds, preconditions, propagationPolicy, dryRun } = options
  return {
    kind: 'DeleteOptions',
    apiVersion: optionsVersion,
    ...(gracePeriodSeconds !== undefined && { gracePeriodSeconds }),
    ...(Object.keys(preconditions).length > 0 && { preconditions }),
    ...(propagationPolicy !== undefined && { propagationPolicy }),
    ...(dryRun && { dryRun: ['All'] }),
  }
}

/** The kind of a request's objects. */
export function kindOf({ kind, resource, version }: Attributes): GroupVersionKind {
  return kind ?? { group: resource.info.group, version: version.name, kind: resource.info.kind }
}

export function resourceOf({ resource, version }: Attributes): GroupVersionResource {
  return { group: resource.info.group, version: version.name, resource: resource.info.resource }
}

export function isNamespaceResource({ resource }: Pick<Attributes, 'resource'>): boolean {
  return resource.info.group === '' && resource.info.resource === 'namespaces'
}

/** The namespace as webhooks see it: a Namespace is in itself. */
export function namespaceOf(attributes: Attributes): string {
  if (!isNamespaceResource(attributes)) return attributes.namespace
  return attributes.namespace || attributes.name
}
