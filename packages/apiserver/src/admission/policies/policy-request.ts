import { isObject, type JsonObject } from '@coxswain/apimachinery/json'
import { newForbidden, StatusError } from '@coxswain/apimachinery/status'
import { isAdmissionConfiguration } from '../admission-request.ts'
import type { Attributes } from '../attributes.ts'
import { isNamespaceResource } from '../create-attributes.ts'
import { findNamespace } from '../matching/selectors.ts'

/** Reviews on which every request may depend: a policy that rejected them would break the cluster. */
const spared = new Set([
  'authentication.k8s.io/selfsubjectreviews',
  'authentication.k8s.io/tokenreviews',
  'authorization.k8s.io/localsubjectaccessreviews',
  'authorization.k8s.io/selfsubjectaccessreviews',
  'authorization.k8s.io/selfsubjectrulesreviews',
  'authorization.k8s.io/subjectaccessreviews',
])

/** Whether the request is exempt from all policies. */
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

/** `namespaceObject`: the request's namespace as expressions see it. Throws a 404 when it does not exist. */
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

/** A 403 for the request's object; an object with `generateName` is called by that prefix. */
export function forbidden(attributes: Attributes, message: string): StatusError {
  const metadata = attributes.object?.metadata as { name?: string; generateName?: string } | undefined
  const name = metadata?.name || metadata?.generateName || attributes.name || 'Unknown'
  return newForbidden(attributes.resource.info, name, message)
}

/** Replaces the message. */
export interface Denial {
  /** @default unchanged */
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
