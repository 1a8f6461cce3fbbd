import type { JsonObject } from '@coxswain/apimachinery/json'
import type { VersionInfo } from '@coxswain/apimachinery/kinds'
import type { GroupVersionKind, GroupVersionResource } from '@coxswain/apimachinery/meta'
import type { Span, TraceContext } from '@coxswain/kit'
import { traceContextOf } from '@coxswain/wire'
import type { Endpoint, ServedResource } from '../registry/registry.ts'

import type { RequestContext, ResourceContext, UserInfo } from '../request/context.ts'
import type { DeleteOptions } from '../request/write-options.ts'
import type { Attributes } from './attributes.ts'
import type { AdmissionPorts } from './ports.ts'

const optionsVersion = 'meta.k8s.io/v1'

type Given = Pick<Attributes, 'server' | 'operation' | 'object' | 'oldObject' | 'dryRun'> &
  Partial<Pick<Attributes, 'subresource' | 'namespace' | 'name' | 'kind' | 'options'>>

type Described = Pick<ResourceContext, 'user'> & Partial<ResourceContext>

/** What admission sees of a request. A class, because an object literal with a getter has a slow shape of its own. */
export class RequestAttributes implements Attributes {
  readonly operation: Attributes['operation']
  readonly resource: ServedResource
  readonly version: VersionInfo
  readonly subresource: string
  readonly namespace: string
  /** Set later when the server generates it. */
  name: string
  declare readonly kind?: GroupVersionKind
  readonly object: JsonObject | undefined
  readonly oldObject: JsonObject | undefined
  readonly dryRun: boolean
  declare readonly options?: JsonObject
  readonly user: UserInfo
  readonly server: AdmissionPorts
  readonly #context: Described

  constructor(context: Described, { resource, version }: Endpoint, given: Given) {
    const { info, user } = context
    this.#context = context
    this.operation = given.operation
    this.resource = resource
    this.version = version
    this.subresource = given.subresource ?? info?.subresource ?? ''
    this.namespace = given.namespace ?? info?.namespace ?? ''
    this.name = given.name ?? info?.name ?? ''
    this.object = given.object
    this.oldObject = given.oldObject
    this.dryRun = given.dryRun
    this.user = user
    this.server = given.server
    if (given.kind) this.kind = given.kind
    if (given.options) this.options = given.options
  }

  warn(text: string): void {
    this.#context.warnings?.push(text)
  }

  annotate(key: string, value: string): void {
    const { auditAnnotations } = this.#context
    if (auditAnnotations && !auditAnnotations.has(key)) auditAnnotations.set(key, value)
  }

  /** A request from a socket creates its signal on first use. */
  get signal(): AbortSignal | undefined {
    return this.#context.request?.signal
  }

  get span(): Span | undefined {
    return this.#context.span
  }

  get trace(): TraceContext | undefined {
    const { span, request } = this.#context
    return span ? span.context : request && traceContextOf(request.headers)
  }
}

/** Whatever is not set is taken from the request's path. */
export function createAttributes(context: Described, endpoint: Endpoint, given: Given): RequestAttributes {
  return new RequestAttributes(context, endpoint, given)
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
