import {
  newBadRequest,
  newMethodNotSupported,
  newNotFound,
  newUnknownError,
  StatusError,
} from '@coxswain/apimachinery/status'
import { isValidPathSegmentName } from '@coxswain/apimachinery/validation'
import { handleGet, handleList } from '../read/read.ts'
import { handleWatch } from '../read/watch.ts'
import type { Endpoint } from '../registry/registry.ts'
import type { RequestContext, ResourceContext } from '../request/context.ts'
import type { Answer } from '../request/filter.ts'
import type { RequestVerb, ResourceRequestInfo } from '../request/request-info.ts'
import { notFoundPage, unknownResource } from '../request/response.ts'
import { handleCreate } from '../write/create.ts'
import { handleDelete, handleDeleteCollection } from '../write/delete.ts'
import { handlePatch } from '../write/patch.ts'
import { handleUpdate } from '../write/update.ts'
import { findComponentHandler } from './component-status.ts'
import { serveDocument } from './document.ts'
import type { EndpointHandler } from './endpoint-handler.ts'
import { findProxyHandler } from './proxies.ts'
import { findReviewHandler } from './reviews/index.ts'
import { findSubresourceHandler } from './subresources.ts'

const handlers: Readonly<Partial<Record<RequestVerb, EndpointHandler>>> = {
  create: handleCreate,
  delete: handleDelete,
  deletecollection: handleDeleteCollection,
  get: handleGet,
  list: handleList,
  patch: handlePatch,
  update: handleUpdate,
  watch: handleWatch,
}

/** Whoever is behind a proxy may be asked anything. */
const proxiedMethods = new Set(['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'])
const servedMethods = new Set(['GET', 'POST', 'PUT', 'PATCH', 'DELETE'])

/** What may be asked of all namespaces at once. */
const acrossNamespaces: ReadonlySet<RequestVerb> = new Set<RequestVerb>(['list', 'watch'])

/** The end of the filter list: finds the handler of a request. */
export function route(context: RequestContext): Answer {
  const { info, path, request } = context
  if (!path.valid) throw newBadRequest('the path is not well-formed')
  if (!info.isResource || info.resource === '') return serveDocument(context)
  const endpoint = context.state.registry.find(info.group, info.version, info.resource)
  if (!endpoint) {
    const { registry } = context.state
    if (!registry.hasGroupVersion(info.group, info.version) && !registry.hasBuiltinGroup(info.group))
      return notFoundPage
    throw isOldDefinition(info) ? oldDefinition(context) : unknownResource()
  }
  const proxy = findProxyHandler(info.group, info.resource, info.subresource)
  if (!(proxy ? proxiedMethods : servedMethods).has(request.method)) throw methodNotAllowed()
  const { info: resource } = endpoint.resource
  const namespaceObject = info.group === '' && info.resource === 'namespaces'
  const isElsewhere = resource.namespaced
    ? info.namespace === '' && !acrossNamespaces.has(info.verb)
    : info.namespace !== '' && !namespaceObject
  // Paths of custom resources are not the router's: where one does not lead anywhere, nobody knows it.
  if (isElsewhere && endpoint.resource.custom) return notFoundPage
  if (!resource.namespaced && isElsewhere) throw unknownResource()
  checkSegment('Name', info.name)
  if (!namespaceObject) checkSegment('Namespace', info.namespace)
  const resourceContext = context as ResourceContext
  const deprecated = endpoint.version.deprecated ?? endpoint.resource.strategy.deprecated
  if (deprecated !== undefined) context.warnings.push(deprecated)
  if (proxy) {
    if (isElsewhere || info.legacyWatch || info.name === '') throw unknownResource()
    return proxy(resourceContext, endpoint)
  }
  if (info.subresource !== '') return routeSubresource(resourceContext, endpoint)
  if (resource.namespaced && info.namespace === '' && info.name !== '') throw unknownResource()
  if (!(endpoint.version.verbs as readonly string[]).includes(info.verb))
    throw withoutVerb(endpoint, info.verb)
  if (info.verb === 'create' && info.name !== '' && endpoint.resource.custom) {
    return handleCreate({ ...resourceContext, info: { ...info, name: '' } }, endpoint)
  }
  if (endpoint.resource.custom && !hasPlace(info)) throw newBadRequest('name must be provided')
  const isNowhere = resource.namespaced && info.namespace === '' && isCollectionWrite(info.verb)
  if (!hasPlace(info) || isNowhere || (info.legacyWatch && request.method !== 'GET')) throw methodNotAllowed()
  const handler =
    info.verb === 'create'
      ? (findReviewHandler(endpoint) ?? findSubresourceHandler(endpoint, info) ?? handleCreate)
      : (findComponentHandler(endpoint, info.verb) ?? handlers[info.verb])
  if (!handler) throw methodNotAllowed()
  return handler(resourceContext, endpoint)
}

/** Definitions as they were before Kubernetes 1.22; old tutorials are full of them. */
function isOldDefinition({ group, version, resource }: ResourceRequestInfo): boolean {
  return group === 'apiextensions.k8s.io' && version === 'v1beta1' && resource === 'customresourcedefinitions'
}

/** The 404 that it always was, with what to do about it. */
function oldDefinition({ warnings }: RequestContext): StatusError {
  const message =
    'apiextensions.k8s.io/v1beta1 CustomResourceDefinition is not served since Kubernetes 1.22; use apiextensions.k8s.io/v1, where each of spec.versions has its own schema, subresources and additionalPrinterColumns ("coxswain convert FILE" rewrites a manifest)'
  warnings.push(message)
  return new StatusError({ ...unknownResource().status, message })
}

function routeSubresource(context: ResourceContext, endpoint: Endpoint): Answer {
  const { info } = context
  const subresource = endpoint.version.subresources.find(candidate => candidate.name === info.subresource)
  if (!subresource || info.name === '' || info.legacyWatch) {
    const { custom, info: resource } = endpoint.resource
    throw custom && info.name !== '' ? newNotFound(resource, info.name) : unknownResource()
  }
  if (!(subresource.verbs as readonly string[]).includes(info.verb)) throw withoutVerb(endpoint, info.verb)
  const isPart = info.subresource === 'status' || endpoint.resource.strategy.subresources?.[info.subresource]
  const handler = isPart ? handlers[info.verb] : findSubresourceHandler(endpoint, info)
  if (!handler) throw notImplemented(`${info.resource}/${info.subresource} is not served yet`)
  return handler(context, endpoint)
}

/** Objects are made, and collections emptied, in one namespace. */
function isCollectionWrite(verb: RequestVerb): boolean {
  return verb === 'create' || verb === 'deletecollection'
}

/** Whether the method goes with a collection or with a name, as the path has it. */
function hasPlace({ verb, name }: ResourceRequestInfo): boolean {
  if (verb === 'create' || verb === 'list' || verb === 'deletecollection') return name === ''
  return verb === 'watch' || name !== ''
}

/** What a resource cannot do: custom ones say so, built-in ones do not even have the path. */
function withoutVerb({ resource }: Endpoint, verb: RequestVerb): StatusError {
  return resource.custom ? newMethodNotSupported(resource.info, verb) : methodNotAllowed()
}

function methodNotAllowed(): StatusError {
  const { status } = newMethodNotSupported({ group: '', resource: '' }, '')
  const message = 'the server does not allow this method on the requested resource'
  return new StatusError({ ...status, message, details: {} })
}

function notImplemented(message: string): StatusError {
  return new StatusError({ ...newUnknownError(message).status, reason: 'NotImplemented', code: 501 })
}

/** A name or namespace that could be mistaken for a way through the tree is refused before anything looks it up. */
function checkSegment(what: string, value: string): void {
  const problems = isValidPathSegmentName(value)
  if (problems.length > 0)
    throw newBadRequest(`${what} parameter invalid: ${JSON.stringify(value)}: ${problems.join(';')}`)
}
