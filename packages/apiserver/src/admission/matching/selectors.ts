import { isObject, type JsonObject } from '@coxswain/apimachinery/json'
import type { LabelSelector } from '@coxswain/apimachinery/meta'
import { labelSelectorAsSelector, type Selector } from '@coxswain/apimachinery/selectors'
import { newNotFound } from '@coxswain/apimachinery/status'
import type { StoredObject } from '../../cache/stored-object.ts'
import type { Attributes } from '../attributes.ts'
import { isNamespaceResource, namespaceOf } from '../create-attributes.ts'
import type { AdmissionPorts } from '../ports.ts'

/** An undefined selector matches everything. */
export interface Selectors {
  readonly namespaces: Selector | undefined
  readonly objects: Selector | undefined
}

/** Parses `namespaceSelector` and `objectSelector`, which were validated when they were written. */
export function readSelectors(owner: JsonObject): Selectors {
  return { namespaces: readSelector(owner.namespaceSelector), objects: readSelector(owner.objectSelector) }
}

function readSelector(value: unknown): Selector | undefined {
  if (!isObject(value)) return undefined
  const { matchLabels, matchExpressions } = value as LabelSelector
  const isEmpty = Object.keys(matchLabels ?? {}).length === 0 && (matchExpressions ?? []).length === 0
  return isEmpty ? undefined : labelSelectorAsSelector(value as LabelSelector)
}

/** Throws a 404 when the request's namespace does not exist. */
export function matchesSelectors(attributes: Attributes, { namespaces, objects }: Selectors): boolean {
  if (objects && !hasLabels(attributes.object, objects) && !hasLabels(attributes.oldObject, objects))
    return false
  if (!namespaces) return true
  const namespace = namespaceOf(attributes)
  // Cluster-scoped objects other than Namespaces always match.
  if (namespace === '' && !isNamespaceResource(attributes)) return true
  return namespaces.matches(namespaceLabels(attributes, namespace))
}

function hasLabels(object: JsonObject | undefined, selector: Selector): boolean {
  if (!isObject(object?.metadata)) return false
  return selector.matches(object.metadata.labels as Readonly<Record<string, string>> | undefined)
}

/** A Namespace that is being written is matched by its new labels. */
function namespaceLabels(attributes: Attributes, namespace: string): Readonly<Record<string, string>> {
  const { operation, subresource, object, server } = attributes
  const isWrite = operation === 'CREATE' || operation === 'UPDATE'
  if (isNamespaceResource(attributes) && subresource === '' && isWrite && object) {
    const metadata = object.metadata as JsonObject | undefined
    return (metadata?.labels ?? {}) as Record<string, string>
  }
  return findNamespace(server, namespace).labels
}

/** Throws a 404. */
export function findNamespace({ cache }: AdmissionPorts, name: string): StoredObject {
  const found = cache.resource('/core/namespaces/').get(`/core/namespaces/${name}`)
  if (!found) throw newNotFound({ group: '', resource: 'namespaces' }, name)
  return found
}
