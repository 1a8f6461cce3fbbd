import { deepEqual, isObject, type JsonObject } from '@coxswain/apimachinery/json'
import { newForbidden, type StatusError } from '@coxswain/apimachinery/status'
import { readCertificateRequest } from '@coxswain/strategies'
import { nodeNameOf } from '../authorization/node/identity.ts'
import type { AdmissionPlugin } from './admission.ts'
import type { Attributes } from './attributes.ts'
import {
  restrictPod,
  restrictPodEviction,
  restrictPodStatus,
  restrictToken,
} from './node-restriction-pods.ts'
import type { NodeRestriction } from './node-rule.ts'

/** Limits kubelets to objects of their own node. Complements the Node authorizer, which does not see objects. */
export const nodeRestriction: AdmissionPlugin = {
  name: 'NodeRestriction',
  needs: 'nodes',
  async mutate(attributes) {
    const node = nodeNameOf(attributes.user)
    if (node === undefined) return
    if (node === '')
      throw refuse(attributes, `could not determine node from user ${JSON.stringify(attributes.user.name)}`)
    const { group, resource } = attributes.resource.info
    const problem = await restrictions[`${group}/${resource}`]?.(node, attributes)
    if (problem !== undefined) throw refuse(attributes, problem)
  },
}

/** Upstream's message leaves out the subresource. */
function refuse({ resource, name, object }: Attributes, problem: string): StatusError {
  const { name: own = '' } = member(object, 'metadata') as { readonly name?: string }
  return newForbidden(resource.info, name || own, problem)
}

function member(object: JsonObject | undefined, name: string): JsonObject {
  return isObject(object?.[name]) ? object[name] : {}
}

const quote = (text: unknown): string => JSON.stringify(text)

/** The name of a new object may be in its metadata only. */
function nameOf({ operation, name, object }: Attributes): unknown {
  return operation === 'CREATE' ? member(object, 'metadata').name : name
}

const restrictPods: NodeRestriction = (node, attributes) => {
  const { subresource } = attributes
  if (subresource === '') return restrictPod(node, attributes)
  if (subresource === 'status') return restrictPodStatus(node, attributes)
  if (subresource === 'eviction') return restrictPodEviction(node, attributes)
  return `unexpected pod subresource ${quote(subresource)}, only 'status' and 'eviction' are allowed`
}

const restrictNode: NodeRestriction = (node, attributes) => {
  const { operation, object, oldObject } = attributes
  const name = attributes.name || member(object, 'metadata').name
  if (name !== node) return `node ${quote(node)} is not allowed to modify node ${quote(name)}`
  if (operation !== 'CREATE' && operation !== 'UPDATE') return undefined
  const { configSource, taints } = member(object, 'spec')
  const old = member(oldObject, 'spec')
  const { labels, ownerReferences } = member(object, 'metadata')
  const { labels: oldLabels, ownerReferences: oldOwners } = member(oldObject, 'metadata')
  const forbidden = findForbiddenLabels(textsOf(labels), textsOf(oldLabels))
  if (operation === 'CREATE') {
    if (configSource) return `node ${quote(node)} is not allowed to create pods with a non-nil configSource`
    if (forbidden.length === 0) return undefined
    return `node ${quote(node)} is not allowed to set the following labels: ${forbidden.join(', ')}`
  }
  if (configSource && !deepEqual(configSource, old.configSource))
    return `node ${quote(node)} is not allowed to update configSource to a new non-nil configSource`
  if (!deepEqual(taints ?? [], old.taints ?? [])) return `node ${quote(node)} is not allowed to modify taints`
  if (!deepEqual(ownerReferences ?? [], oldOwners ?? []))
    return `node ${quote(node)} is not allowed to modify ownerReferences`
  return forbidden.length > 0 ? `is not allowed to modify labels: ${forbidden.join(', ')}` : undefined
}

const textsOf = (value: unknown): Readonly<Record<string, string>> =>
  (value ?? {}) as Readonly<Record<string, string>>

const kubeletLabels = new Set([
  'kubernetes.io/hostname',
  'kubernetes.io/os',
  'kubernetes.io/arch',
  'beta.kubernetes.io/os',
  'beta.kubernetes.io/arch',
  'beta.kubernetes.io/instance-type',
  'node.kubernetes.io/instance-type',
  'topology.kubernetes.io/zone',
  'topology.kubernetes.io/region',
  'failure-domain.beta.kubernetes.io/zone',
  'failure-domain.beta.kubernetes.io/region',
])

/** Labels with which a node could attract Pods that are not meant for it. */
function findForbiddenLabels(
  now: Readonly<Record<string, string>>,
  before: Readonly<Record<string, string>>,
): string[] {
  const keys = new Set([...Object.keys(now), ...Object.keys(before)])
  return [...keys].filter(key => now[key] !== before[key] && isForbiddenLabel(key)).sort()
}

function isForbiddenLabel(key: string): boolean {
  const slash = key.indexOf('/')
  const domain = slash < 0 ? '' : key.slice(0, slash)
  const isIn = (parent: string) => domain === parent || domain.endsWith(`.${parent}`)
  if (isIn('node-restriction.kubernetes.io')) return true
  if (!isIn('kubernetes.io') && !isIn('k8s.io')) return false
  return !kubeletLabels.has(key) && !isIn('kubelet.kubernetes.io') && !isIn('node.kubernetes.io')
}

const restrictClaim: NodeRestriction = (node, { operation, subresource, object, oldObject }) => {
  if (subresource !== 'status') return 'may only update PVC status'
  if (operation !== 'UPDATE') return `unexpected operation ${quote(operation)}`
  if (deepEqual(withoutSizes(object), withoutSizes(oldObject))) return undefined
  return `node ${quote(node)} is not allowed to update fields other than status.quantity and status.conditions`
}

function withoutSizes(claim: JsonObject | undefined): JsonObject {
  const {
    capacity: _c,
    conditions: _o,
    allocatedResourceStatuses: _s,
    allocatedResources: _a,
    ...status
  } = member(claim, 'status')
  const { resourceVersion: _r, managedFields: _m, ...metadata } = member(claim, 'metadata')
  return { ...claim, metadata, status }
}

const leaseNamespace = 'kube-node-lease'

const restrictLease: NodeRestriction = (node, attributes) => {
  if (attributes.namespace !== leaseNamespace)
    return `can only access leases in the ${quote(leaseNamespace)} system namespace`
  if (nameOf(attributes) === node) return undefined
  return 'can only access node lease with the same name as the requesting node'
}

const restrictCsiNode: NodeRestriction = (node, attributes) =>
  nameOf(attributes) === node
    ? undefined
    : 'can only access CSINode with the same name as the requesting node'

const restrictSlice: NodeRestriction = (node, { operation, object, oldObject }) => {
  if (operation === 'CREATE' && member(object, 'spec').nodeName !== node)
    return 'can only create ResourceSlice with the same NodeName as the requesting node'
  if (operation === 'DELETE' && member(oldObject, 'spec').nodeName !== node)
    return 'can only delete ResourceSlice with the same NodeName as the requesting node'
  return undefined
}

const nodeSigners = new Set(['kubernetes.io/kubelet-serving', 'kubernetes.io/kube-apiserver-client-kubelet'])

const restrictSigningRequest: NodeRestriction = (node, { operation, object }) => {
  if (operation !== 'CREATE') return undefined
  const { signerName, request } = member(object, 'spec')
  if (!nodeSigners.has(String(signerName))) return undefined
  const parsed = readCertificateRequest(String(request ?? ''))
  if (typeof parsed === 'string') return `unable to parse csr: ${parsed}`
  return parsed.commonName === `system:node:${node}`
    ? undefined
    : `can only create a node CSR with CN=system:node:${node}`
}

/** By `GROUP/RESOURCE`; nodes are not restricted in other resources. */
const restrictions: Readonly<Record<string, NodeRestriction>> = {
  '/pods': restrictPods,
  '/nodes': restrictNode,
  '/persistentvolumeclaims': restrictClaim,
  '/serviceaccounts': restrictToken,
  'coordination.k8s.io/leases': restrictLease,
  'storage.k8s.io/csinodes': restrictCsiNode,
  'resource.k8s.io/resourceslices': restrictSlice,
  'certificates.k8s.io/certificatesigningrequests': restrictSigningRequest,
  'certificates.k8s.io/podcertificaterequests': () => 'PodCertificateRequest feature gate is disabled',
}
