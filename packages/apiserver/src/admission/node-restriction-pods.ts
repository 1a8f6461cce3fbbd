import { deepEqual, isObject, type JsonObject } from '@coxswain/apimachinery/json'
import { newNotFound } from '@coxswain/apimachinery/status'
import { findPodReferences } from '../authorization/node/references.ts'
import type { RequestVerb } from '../request/request-info.ts'
import type { Attributes } from './attributes.ts'
import type { NodeRestriction } from './node-rule.ts'
import type { AdmissionPorts } from './ports.ts'

const mirrorAnnotation = 'kubernetes.io/config.mirror'

const quote = (text: unknown): string => JSON.stringify(text)
const objectOf = (value: unknown): JsonObject => (isObject(value) ? value : {})
const listOf = (value: unknown): JsonObject[] => (Array.isArray(value) ? value.filter(isObject) : [])

function findObject({ cache }: AdmissionPorts, resource: string, ...place: string[]): JsonObject {
  const prefix = `/core/${resource}/`
  const found = cache.resource(prefix).get(prefix + place.join('/'))
  if (!found) throw newNotFound({ group: '', resource }, place.at(-1)!)
  return found.parse()
}

const nodeOf = (pod: JsonObject | undefined): unknown => objectOf(pod?.spec).nodeName

/** A node may create its own mirror Pods and delete its Pods. */
export const restrictPod: NodeRestriction = (node, attributes) => {
  const { operation, oldObject } = attributes
  if (operation === 'CREATE') return restrictMirrorPod(node, attributes)
  if (operation !== 'DELETE')
    return `unexpected operation ${quote(operation)}, node ${quote(node)} can only create and delete mirror pods`
  if (nodeOf(oldObject) === node) return undefined
  return `node ${quote(node)} can only delete pods with spec.nodeName set to itself`
}

function restrictMirrorPod(node: string, { object = {}, server }: Attributes): string | undefined {
  const who = `node ${quote(node)}`
  const { annotations, ownerReferences } = objectOf(object.metadata)
  if (!Object.hasOwn(objectOf(annotations), mirrorAnnotation))
    return `pod does not have ${quote(mirrorAnnotation)} annotation, ${who} can only create mirror pods`
  if (nodeOf(object) !== node) return `${who} can only create pods with spec.nodeName set to itself`
  const owners = listOf(ownerReferences)
  if (owners.length > 1) return `${who} can only create pods with a single owner reference set to itself`
  const { apiVersion, kind, name, uid, controller, blockOwnerDeletion } = objectOf(owners[0])
  if (apiVersion !== 'v1' || kind !== 'Node' || name !== node)
    return `${who} can only create pods with an owner reference set to itself`
  if (controller !== true)
    return `${who} can only create pods with a controller owner reference set to itself`
  if (blockOwnerDeletion === true) return `${who} must not set blockOwnerDeletion on an owner reference`
  const own = objectOf(findObject(server, 'nodes', node).metadata).uid
  if (uid !== own) return `node ${node} UID mismatch: expected ${uid} got ${own}`
  const reference = findReference(object)
  return reference && `${who} can not create pods that reference ${reference}`
}

/** Volume sources that refer to no API object. */
const plainVolumes = [
  'awsElasticBlockStore',
  'azureDisk',
  'cephfs',
  'cinder',
  'downwardAPI',
  'emptyDir',
  'fc',
  'flexVolume',
  'flocker',
  'gcePersistentDisk',
  'gitRepo',
  'hostPath',
  'image',
  'iscsi',
  'nfs',
  'photonPersistentDisk',
  'portworxVolume',
  'quobyte',
  'rbd',
  'scaleIO',
  'storageos',
  'vsphereVolume',
]

const referringVolumes: Readonly<Record<string, string>> = {
  configMap: 'configmaps (via configmap volumes)',
  secret: 'secrets (via secret volumes)',
  csi: 'csidrivers (via CSI volumes)',
  glusterfs: 'endpoints (via glusterFS volumes)',
  persistentVolumeClaim: 'persistentvolumeclaims',
  ephemeral: 'persistentvolumeclaims (via ephemeral volumes)',
  azureFile: 'secrets (via azureFile volumes)',
}

const referringSources: Readonly<Record<string, string>> = {
  configMap: 'configmaps (via projected volumes)',
  secret: 'secrets (via projected volumes)',
  serviceAccountToken: 'serviceaccounts (via projected volumes)',
  clusterTrustBundle: 'clustertrustbundles',
  podCertificate: 'podcertificates',
}

/** The kind of API object that a volume source refers to. An unknown source counts, since it may refer to one. */
function findReference(pod: JsonObject): string | undefined {
  const { secret, configmap, serviceaccount } = findPodReferences(pod)
  const { resourceClaims, volumes } = objectOf(pod.spec)
  if (serviceaccount.size > 0) return 'serviceaccounts'
  if (secret.size > 0) return 'secrets'
  if (configmap.size > 0) return 'configmaps'
  if (listOf(resourceClaims).length > 0) return 'resourceclaims'
  for (const volume of listOf(volumes)) {
    const has = (name: string) => isObject(volume[name])
    if (plainVolumes.some(has)) continue
    const kind = Object.keys(referringVolumes).find(has)
    if (kind !== undefined) return referringVolumes[kind]
    if (!has('projected')) return `unknown volume type for volume ${quote(volume.name)}`
    for (const source of listOf(objectOf(volume.projected).sources)) {
      const part = Object.keys(referringSources).find(name => isObject(source[name]))
      if (part !== undefined) return referringSources[part]
      if (!isObject(source.downwardAPI)) return `unknown source for projected volume ${quote(volume.name)}`
    }
  }
  return undefined
}

export const restrictPodStatus: NodeRestriction = (node, { operation, object, oldObject }) => {
  const who = `node ${quote(node)}`
  if (operation !== 'UPDATE') return `unexpected operation ${quote(operation)}`
  if (nodeOf(oldObject) !== node)
    return `${who} can only update pod status for pods with spec.nodeName set to itself`
  const labelsOf = (pod: JsonObject | undefined) => objectOf(objectOf(pod?.metadata).labels)
  if (!deepEqual(labelsOf(object), labelsOf(oldObject)))
    return `${who} cannot update labels through pod status`
  const now = objectOf(object?.status)
  const before = objectOf(oldObject?.status)
  if (!deepEqual(listOf(now.resourceClaimStatuses), listOf(before.resourceClaimStatuses)))
    return `${who} cannot update resource claim statues`
  if (!deepEqual(now.extendedResourceClaimStatus, before.extendedResourceClaimStatus))
    return `${who} cannot update extended resource claim status`
  return undefined
}

export const restrictPodEviction: NodeRestriction = (
  node,
  { operation, namespace, name, object, server },
) => {
  if (operation !== 'CREATE') return `unexpected operation ${operation}`
  const podName = name || objectOf(object?.metadata).name
  if (typeof podName !== 'string' || podName === '') return 'could not determine pod from request data'
  if (nodeOf(findObject(server, 'pods', namespace, podName)) === node) return undefined
  return `node ${node} can only evict pods with spec.nodeName set to itself`
}

/** A node may request tokens only for service accounts of its Pods, bound to such a Pod. */
export const restrictToken: NodeRestriction = async (node, attributes) => {
  const { operation, subresource, namespace, object, server } = attributes
  if (operation !== 'CREATE' || subresource !== 'token') return undefined
  const { boundObjectRef, audiences } = objectOf(object?.spec)
  const { apiVersion, kind, name, uid } = objectOf(boundObjectRef)
  if (apiVersion !== 'v1' || kind !== 'Pod' || typeof name !== 'string' || name === '')
    return 'node requested token not bound to a pod'
  if (!uid) return 'node requested token with a pod binding without a uid'
  const pod = findObject(server, 'pods', namespace, name)
  if (uid !== objectOf(pod.metadata).uid)
    return `the UID in the bound object reference (${uid}) does not match the UID in record. The object might have been deleted and then recreated`
  if (nodeOf(pod) !== node) return 'node requested token bound to a pod scheduled on a different node'
  return await restrictAudience(attributes, pod, Array.isArray(audiences) ? audiences : [])
}

/** Audiences must be those of the Pod's volumes, unless the node is authorized for others. */
async function restrictAudience(
  { server, user, namespace, name }: Attributes,
  pod: JsonObject,
  audiences: readonly unknown[],
): Promise<string | undefined> {
  if (audiences.length > 1) return 'node may only request 0 or 1 audiences'
  const audience = String(audiences[0] ?? '')
  if (mountedAudiences(server, pod).has(audience)) return undefined
  const info = {
    isResource: true as const,
    verb: 'request-serviceaccounts-token-audience' as RequestVerb,
    group: '',
    version: 'v1',
    namespace,
    resource: audience,
    subresource: '',
    name,
    rest: [],
    legacyWatch: false,
  }
  if ((await server.authorizer({ user, info })).verdict === 'allow') return undefined
  return `audience ${quote(audience)} not found in pod spec volume, ${user.name} is not authorized to request tokens for this audience`
}

function mountedAudiences({ cache }: AdmissionPorts, pod: JsonObject): Set<string> {
  const found = new Set<string>()
  const { namespace, name } = objectOf(pod.metadata)
  const find = (prefix: string, key: string) =>
    cache
      .resource(prefix)
      .get(prefix + key)
      ?.parse()
  for (const volume of listOf(objectOf(pod.spec).volumes)) {
    for (const { serviceAccountToken } of listOf(objectOf(volume.projected).sources))
      if (isObject(serviceAccountToken)) found.add(String(serviceAccountToken.audience ?? ''))
    const claim = isObject(volume.ephemeral)
      ? `${name}-${volume.name}`
      : objectOf(volume.persistentVolumeClaim).claimName
    const { volumeName } = objectOf(
      claim && find('/core/persistentvolumeclaims/', `${namespace}/${claim}`)?.spec,
    )
    const { csi } = objectOf(volumeName && find('/core/persistentvolumes/', String(volumeName))?.spec)
    const driver = objectOf(volume.csi ?? csi).driver
    const { tokenRequests } = objectOf(driver && find('/storage.k8s.io/csidrivers/', String(driver))?.spec)
    for (const { audience = '' } of listOf(tokenRequests)) found.add(String(audience))
  }
  return found
}
