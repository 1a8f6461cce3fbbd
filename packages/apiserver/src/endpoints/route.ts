import { newBadRequest, newUnknownError, StatusError } from '@coxswain/apimachinery/status'
import { isValidPathSegmentName } from '@coxswain/apimachinery/validation'
import type { ReadPorts } from '../read/ports.ts'
import { Reader } from '../read/read.ts'
import { handleWatch } from '../read/watch.ts'
import { methodNotAllowed } from '../registry/builtin-conventions.ts'
import type { Endpoint, Registry, ResourceHome } from '../registry/registry.ts'
import type { RequestContext, ResourceContext } from '../request/context.ts'
import type { Answer, Next } from '../request/filter.ts'
import type { RequestVerb, ResourceRequestInfo } from '../request/request-info.ts'
import { notFoundPage, unknownResource } from '../request/response.ts'
import { handleCreate } from '../write/create.ts'
import { handleDelete, handleDeleteCollection } from '../write/delete.ts'
import { handlePatch } from '../write/patch.ts'
import { handleUpdate } from '../write/update.ts'
import {
  type ComponentStatusPorts,
  createComponentStatuses,
  type FindComponentStatus,
} from './component-status.ts'
import { type DocumentPorts, serveDocument } from './document.ts'
import type { EndpointHandler } from './endpoint-handler.ts'
import { findProxyHandler, type ProxyPorts } from './proxies.ts'
import {
  createResourceMetrics,
  type FindResourceMetrics,
  type ResourceMetricsPorts,
} from './resource-metrics.ts'
import { createReviews, type FindReview, type ReviewHandlerPorts } from './reviews/index.ts'
import { createSubresources, type FindSubresource, type SubresourcePorts } from './subresources.ts'

/** What the endpoints need of the server, by family. */
export interface RoutePorts extends SubresourcePorts {
  readonly registry: Registry
  readonly read: ReadPorts
  readonly proxies: ProxyPorts
  readonly reviews: ReviewHandlerPorts
  readonly componentStatuses: ComponentStatusPorts
  /** Undefined where `metrics.k8s.io` is not served. */
  readonly resourceMetrics: ResourceMetricsPorts | undefined
  readonly documents: DocumentPorts
}

/** Backends of a proxy accept any method. */
const proxiedMethods = new Set(['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'])
const servedMethods = new Set(['GET', 'POST', 'PUT', 'PATCH', 'DELETE'])

/** Verbs that work across all namespaces. */
const acrossNamespaces: ReadonlySet<RequestVerb> = new Set<RequestVerb>(['list', 'watch'])

/** The end of the filter chain: finds the handler of a request. */
export function createRoute(ports: RoutePorts): Next {
  const router = new Router(ports)
  return context => router.route(context)
}

class Router {
  readonly #ports: RoutePorts
  readonly #handlers: VerbHandlers
  /** Those of resources that are stored elsewhere. */
  readonly #handlersAt = new WeakMap<ResourceHome, VerbHandlers>()
  readonly #findReview: FindReview
  readonly #findSubresource: FindSubresource
  readonly #findComponentStatus: FindComponentStatus
  readonly #findResourceMetrics: FindResourceMetrics

  constructor(ports: RoutePorts) {
    this.#ports = ports
    this.#handlers = createVerbHandlers(ports)
    this.#findReview = createReviews(ports.reviews)
    this.#findSubresource = createSubresources(ports)
    this.#findComponentStatus = createComponentStatuses(ports.componentStatuses)
    this.#findResourceMetrics = createResourceMetrics(ports.resourceMetrics)
  }

  route(context: RequestContext): Answer {
    const { info, path } = context
    if (!path.valid) throw newBadRequest('the path is not well-formed')
    if (context.delegate) return context.delegate(context)
    if (!info.isResource || info.resource === '') return serveDocument(this.#ports.documents, context)
    const endpoint = this.#ports.registry.find(info.group, info.version, info.resource)
    if (!endpoint) return this.#unknown(context, info)
    return this.#routeResource(context as ResourceContext, endpoint)
  }

  #routeResource(context: ResourceContext, endpoint: Endpoint): Answer {
    const { info } = context
    const proxy = findProxyHandler(info)
    checkMethod(context, proxy ? proxiedMethods : servedMethods)
    const isMisplaced = isWrongScope(endpoint, info)
    if (isMisplaced && endpoint.resource.routing.hidesWrongScope) return notFoundPage
    if (isMisplaced && !endpoint.resource.info.namespaced) throw unknownResource()
    checkSegments(info)
    warnOfDeprecation(context, endpoint)
    if (proxy && (isMisplaced || info.legacyWatch || info.name === '')) throw unknownResource()
    if (proxy) return proxy(this.#ports.proxies, context, endpoint)
    if (info.subresource !== '') return this.#routeSubresource(context, endpoint)
    return this.#routeObject(context, endpoint)
  }

  /** The response for a resource that is not served. */
  #unknown(context: RequestContext, info: ResourceRequestInfo): Answer {
    const { registry } = this.#ports
    if (!registry.hasGroupVersion(info.group, info.version) && !registry.hasBuiltinGroup(info.group))
      return notFoundPage
    throw isOldCrd(info) ? oldCrd(context) : unknownResource()
  }

  #routeObject(context: ResourceContext, endpoint: Endpoint): Answer {
    const { info, request } = context
    const { routing, info: resource } = endpoint.resource
    const isNowhere = resource.namespaced && info.namespace === ''
    if (isNowhere && info.name !== '') throw unknownResource()
    if (!(endpoint.version.verbs as readonly string[]).includes(info.verb))
      throw routing.unsupportedVerb(endpoint, info.verb)
    if (info.verb === 'create' && info.name !== '' && routing.ignoresCreateName)
      return this.#handlersOf(endpoint).create!({ ...context, info: { ...info, name: '' } }, endpoint)
    if (!hasPlace(info)) throw routing.misplacedVerb()
    if (isNowhere && isCollectionWrite(info.verb)) throw methodNotAllowed()
    if (info.legacyWatch && request.method !== 'GET') throw methodNotAllowed()
    const handler = this.#findHandler(endpoint, info)
    if (!handler) throw methodNotAllowed()
    return handler(context, endpoint)
  }

  #handlersOf({ resource: { home } }: Endpoint): VerbHandlers {
    if (!home) return this.#handlers
    const known = this.#handlersAt.get(home)
    if (known) return known
    const { read, write } = this.#ports
    const ownRead = { ...read, ...home }
    const made = createVerbHandlers({
      read: ownRead,
      write: { ...write, ...home, reader: new Reader(ownRead) },
    })
    this.#handlersAt.set(home, made)
    return made
  }

  #findHandler(endpoint: Endpoint, info: ResourceRequestInfo): EndpointHandler | undefined {
    const { handlers } = endpoint.resource
    if (handlers) return handlers[` ${info.verb}`] ?? this.#handlersOf(endpoint)[info.verb]
    const own =
      info.verb === 'create'
        ? (this.#findReview(endpoint) ?? this.#findSubresource(endpoint, info))
        : (this.#findComponentStatus(endpoint, info.verb) ?? this.#findResourceMetrics(endpoint, info.verb))
    return own ?? this.#handlersOf(endpoint)[info.verb]
  }

  #routeSubresource(context: ResourceContext, endpoint: Endpoint): Answer {
    const { info } = context
    const { routing, strategy } = endpoint.resource
    const subresource = endpoint.version.subresources.find(candidate => candidate.name === info.subresource)
    if (!subresource || info.name === '' || info.legacyWatch) throw routing.unknownSubresource(endpoint, info)
    if (!(subresource.verbs as readonly string[]).includes(info.verb))
      throw routing.unsupportedVerb(endpoint, info.verb)
    const isPart = info.subresource === 'status' || strategy.subresources?.[info.subresource]
    const handler =
      endpoint.resource.handlers?.[`${info.subresource} ${info.verb}`] ??
      (isPart ? this.#handlersOf(endpoint)[info.verb] : this.#findSubresource(endpoint, info))
    if (!handler) throw notImplemented(`${info.resource}/${info.subresource} is not served yet`)
    return handler(context, endpoint)
  }
}

type VerbHandlers = Readonly<Partial<Record<RequestVerb, EndpointHandler>>>

function createVerbHandlers({ read, write }: Pick<RoutePorts, 'read' | 'write'>): VerbHandlers {
  const { reader } = write
  const watch = { reader, env: read.env, cache: read.cache }
  return {
    create: (context, endpoint) => handleCreate(write, context, endpoint),
    delete: (context, endpoint) => handleDelete(write, context, endpoint),
    deletecollection: (context, endpoint) => handleDeleteCollection(write, context, endpoint),
    get: (context, endpoint) => reader.get(context, endpoint),
    list: (context, endpoint) => reader.list(context, endpoint),
    patch: (context, endpoint) => handlePatch(write, context, endpoint),
    update: (context, endpoint) => handleUpdate(write, context, endpoint),
    watch: (context, endpoint) => handleWatch(watch, context, endpoint),
  }
}

function checkMethod({ request }: RequestContext, methods: ReadonlySet<string>): void {
  if (!methods.has(request.method)) throw methodNotAllowed()
}

/** Whether the path has a namespace for a cluster-scoped resource, or none for a namespaced one. */
function isWrongScope({ resource }: Endpoint, info: ResourceRequestInfo): boolean {
  return resource.info.namespaced
    ? info.namespace === '' && !acrossNamespaces.has(info.verb)
    : info.namespace !== '' && !isNamespace(info)
}

function isNamespace({ group, resource }: ResourceRequestInfo): boolean {
  return group === '' && resource === 'namespaces'
}

function warnOfDeprecation({ warnings }: RequestContext, { resource, version }: Endpoint): void {
  const deprecated = version.deprecated ?? resource.strategy.deprecated
  if (deprecated !== undefined) warnings.push(deprecated)
}

/** The CRD versions that Kubernetes 1.22 removed; old tutorials still use them. */
function isOldCrd({ group, version, resource }: ResourceRequestInfo): boolean {
  return group === 'apiextensions.k8s.io' && version === 'v1beta1' && resource === 'customresourcedefinitions'
}

/** The usual 404, with a hint. */
function oldCrd({ warnings }: RequestContext): StatusError {
  const message =
    'apiextensions.k8s.io/v1beta1 CustomResourceDefinition is not served since Kubernetes 1.22; use apiextensions.k8s.io/v1, where each of spec.versions has its own schema, subresources and additionalPrinterColumns ("coxswain convert FILE" rewrites a manifest)'
  warnings.push(message)
  return new StatusError({ ...unknownResource().status, message })
}

/** Creates and deletecollections are in a single namespace. */
function isCollectionWrite(verb: RequestVerb): boolean {
  return verb === 'create' || verb === 'deletecollection'
}

/** Whether the method matches the path: a collection or a name. */
function hasPlace({ verb, name }: ResourceRequestInfo): boolean {
  if (verb === 'create' || verb === 'list' || verb === 'deletecollection') return name === ''
  return verb === 'watch' || name !== ''
}

function notImplemented(message: string): StatusError {
  return new StatusError({ ...newUnknownError(message).status, reason: 'NotImplemented', code: 501 })
}

function checkSegments(info: ResourceRequestInfo): void {
  checkSegment('Name', info.name)
  if (!isNamespace(info)) checkSegment('Namespace', info.namespace)
}

/** Rejects names and namespaces with path segments such as `..` before anything looks them up. */
function checkSegment(what: string, value: string): void {
  const problems = isValidPathSegmentName(value)
  if (problems.length > 0)
    throw newBadRequest(`${what} parameter invalid: ${JSON.stringify(value)}: ${problems.join(';')}`)
}
