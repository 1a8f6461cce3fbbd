import { isObject, type JsonObject } from '@coxswain/apimachinery/json'

/** Objects that a Pod needs on its node, by kind; all in its namespace. */
export interface PodReferences {
  readonly secret: ReadonlySet<string>
  readonly configmap: ReadonlySet<string>
  readonly pvc: ReadonlySet<string>
  readonly serviceaccount: ReadonlySet<string>
  readonly resourceclaim: ReadonlySet<string>
}

const objectOf = (value: unknown): JsonObject => (isObject(value) ? value : {})
const listOf = (value: unknown): JsonObject[] => (Array.isArray(value) ? value.filter(isObject) : [])

/** Volume sources with a Secret in `secretRef.name`. */
const secretVolumes = ['cephfs', 'cinder', 'flexVolume', 'rbd', 'scaleIO', 'iscsi', 'storageos'] as const

export function findPodReferences(pod: JsonObject): PodReferences {
  const spec = objectOf(pod.spec)
  const found = {
    secret: names(),
    configmap: names(),
    pvc: names(),
    serviceaccount: names(),
    resourceclaim: names(),
  }
  found.serviceaccount.add(spec.serviceAccountName)
  for (const { name } of listOf(spec.imagePullSecrets)) found.secret.add(name)
  for (const list of [spec.initContainers, spec.containers, spec.ephemeralContainers])
    for (const container of listOf(list)) addEnvironment(container, found)
  for (const volume of listOf(spec.volumes)) addVolume(pod, volume, found)
  addClaims(pod, found.resourceclaim)
  return found
}

interface Names extends Set<string> {
  add(name: unknown): this
}

/** References without a name are ignored. */
function names(): Names {
  const set = new Set<string>()
  const add = set.add.bind(set)
  return Object.assign(set, {
    add(name: unknown) {
      if (typeof name === 'string' && name !== '') add(name)
      return set
    },
  }) as Names
}

type Found = { readonly [kind in keyof PodReferences]: Names }

function addEnvironment(container: JsonObject, { secret, configmap }: Found): void {
  for (const { secretRef, configMapRef } of listOf(container.envFrom)) {
    secret.add(objectOf(secretRef).name)
    configmap.add(objectOf(configMapRef).name)
  }
  for (const { valueFrom } of listOf(container.env)) {
    const { secretKeyRef, configMapKeyRef } = objectOf(valueFrom)
    secret.add(objectOf(secretKeyRef).name)
    configmap.add(objectOf(configMapKeyRef).name)
  }
}

function addVolume(pod: JsonObject, volume: JsonObject, { secret, configmap, pvc }: Found): void {
  secret.add(objectOf(volume.azureFile).secretName)
  secret.add(objectOf(volume.secret).secretName)
  secret.add(objectOf(objectOf(volume.csi).nodePublishSecretRef).name)
  for (const kind of secretVolumes) secret.add(objectOf(objectOf(volume[kind]).secretRef).name)
  configmap.add(objectOf(volume.configMap).name)
  for (const source of listOf(objectOf(volume.projected).sources)) {
    secret.add(objectOf(source.secret).name)
    configmap.add(objectOf(source.configMap).name)
  }
  pvc.add(objectOf(volume.persistentVolumeClaim).claimName)
  if (isObject(volume.ephemeral)) pvc.add(`${objectOf(pod.metadata).name}-${volume.name}`)
}

/** The name of a claim generated from a template is in the Pod's status. */
function addClaims(pod: JsonObject, claims: Names): void {
  const status = objectOf(pod.status)
  const made = listOf(status.resourceClaimStatuses)
  for (const { name, resourceClaimName } of listOf(objectOf(pod.spec).resourceClaims))
    claims.add(resourceClaimName ?? made.find(entry => entry.name === name)?.resourceClaimName)
  claims.add(objectOf(status.extendedResourceClaimStatus).resourceClaimName)
}

/** Secrets of a volume that the kubelet needs, as `NAMESPACE/NAME`. */
export function findVolumeSecrets(volume: JsonObject): string[] {
  const spec = objectOf(volume.spec)
  const claimNamespace = String(objectOf(spec.claimRef).namespace ?? '')
  const found: string[] = []
  const add = (namespace: unknown, name: unknown) => {
    if (typeof name === 'string' && name !== '') found.push(`${namespace || claimNamespace}/${name}`)
  }
  const { secretName, secretNamespace } = objectOf(spec.azureFile)
  add(secretNamespace, secretName)
  for (const kind of secretVolumes) {
    const { namespace, name } = objectOf(objectOf(spec[kind]).secretRef)
    add(namespace, name)
  }
  const csi = objectOf(spec.csi)
  for (const reference of [csi.nodePublishSecretRef, csi.nodeStageSecretRef, csi.nodeExpandSecretRef]) {
    const { namespace, name } = objectOf(reference)
    add(namespace, name)
  }
  return found
}
