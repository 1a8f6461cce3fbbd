import { isObject, type JsonObject } from '@coxswain/apimachinery/json'
import { newForbidden, StatusError } from '@coxswain/apimachinery/status'
import { isAdmissionConfiguration } from '../admission-request.ts'
import type { Attributes } from '../attributes.ts'
import { isNamespaceResource } from '../create-attributes.ts'
import { findNamespace } from '../matching/selectors.ts'

/** Questions that every request may depend on: a policy that refuses them breaks the cluster. */
const spared = new Set([
  'authentication.k8s.io/selfsubjectreviews',
  'authentication.k8s.io/tokenreviews',
  'authorization.k8s.io/localsubjectaccessreviews',
  'authorization.k8s.io/selfsubjectaccessreviews',
  'authorization.k8s.io/selfsubjectrulesreviews',
  'authorization.k8s.io/subjectaccessreviews',
])

/** Whether no policy is asked about the request. */
export function isSpared(attributes: Attributes): boolean {
  const { group, resource } = attributes.resource.info
  return isAdmissionConfiguration(attributes) || spared.has(`${group}/${resource}`)
}

const shownMetadata = [
  'name',
  'generateName',
  'namespace',
  'uid',
  'resourceVersion',
  'generation',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'labels',
  'annotations',
  'finalizers',
]

/** `namespaceObject`: what expressions see of the request's namespace. Throws a 404 when it is not there. */
export function readNamespaceObject(attributes: Attributes): JsonObject | undefined {
  if (attributes.namespace === '' || isNamespaceResource(attributes)) return undefined
  const {
    kind,
    apiVersion,
    metadata,
    spec = {},
    status = {},
  } = findNamespace(attributes.server, attributes.namespace).parse()
  const all = isObject(metadata) ? metadata : {}
  const shown = Object.fromEntries(shownMetadata.filter(key => key in all).map(key => [key, all[key]]))
  return { kind, apiVersion, metadata: shown, spec, status }
}

/** A 403 about the request's object; an object whose name is made later is called by what it will begin with. */
export function forbidden(attributes: Attributes, message: string): StatusError {
  const metadata = attributes.object?.metadata as { name?: string; generateName?: string } | undefined
  const name = metadata?.name || metadata?.generateName || attributes.name || 'Unknown'
  return newForbidden(attributes.resource.info, name, message)
}

/** What to say instead. */
export interface Denial {
  /** @default as it is */
  readonly message?: string
  readonly reason: string
  readonly code: number
  readonly causes: readonly string[]
}

export function denied({ status }: StatusError, { message, reason, code, causes }: Denial): StatusError {
  return new StatusError({
    ...status,
    ...(message !== undefined && { message }),
    reason,
    code,
    details: { ...status.details, causes: causes.map(text => ({ message: text })) },
  })
}
