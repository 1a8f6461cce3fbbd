import { isObject, type JsonObject } from '@coxswain/apimachinery/json'
import { textOf } from '../../shared/reading.ts'
import { dropDisabledFields } from './disabled-fields.ts'
import { aggregate, isHugePages } from './validation/resources.ts'

const list = (value: unknown): JsonObject[] => (Array.isArray(value) ? value.filter(isObject) : [])

/** Sets a member that is absent. Members are never null here: decoding has seen to that. */
function fill(object: JsonObject, defaults: JsonObject): void {
  for (const [key, value] of Object.entries(defaults)) object[key] ??= value
}

/** What a pod and the template of a pod get alike. */
export function defaultPodSpec(spec: JsonObject): void {
  dropDisabledFields(spec)
  fill(spec, {
    restartPolicy: 'Always',
    terminationGracePeriodSeconds: 30,
    dnsPolicy: 'ClusterFirst',
    securityContext: {},
    schedulerName: 'default-scheduler',
  })
  defaultServiceAccount(spec)
  for (const container of containersOf(spec)) defaultContainer(container)
  for (const volume of list(spec.volumes)) defaultVolume(volume)
}

/** `serviceAccount` is what `serviceAccountName` used to be called; both say the same. */
function defaultServiceAccount(spec: JsonObject): void {
  if (!spec.serviceAccountName && spec.serviceAccount) spec.serviceAccountName = spec.serviceAccount
  if (spec.serviceAccountName) spec.serviceAccount = spec.serviceAccountName
}

/** The first of a pod's addresses has a member of its own, which wins where they differ. */
export function defaultPodStatus(status: JsonObject): void {
  const first = list(status.podIPs)[0]
  if (status.podIP && first?.ip !== status.podIP) status.podIPs = [{ ip: status.podIP }]
  else if (!status.podIP && first) status.podIP = first.ip
}

/** Every container of a pod: init, normal, ephemeral. */
export function containersOf(spec: JsonObject): JsonObject[] {
  return [...list(spec.initContainers), ...list(spec.containers), ...list(spec.ephemeralContainers)]
}

/** On the network of its host a pod's ports are the host's. Templates leave that to the pods made of them. */
export function defaultHostPorts(spec: JsonObject): void {
  if (spec.hostNetwork !== true) return
  for (const container of [...list(spec.containers), ...list(spec.initContainers)])
    for (const port of list(container.ports)) if (!port.hostPort) port.hostPort = port.containerPort
}

/**
 * Resources of the pod as a whole, where it has some: huge pages are limited to what its containers may have, and it asks
 * for what its containers ask for, or else for its limits.
 */
export function defaultPodLevelResources(spec: JsonObject): void {
  const { resources } = spec
  if (!isObject(resources)) return
  const limits: JsonObject = { ...(resources.limits as JsonObject | undefined) }
  const requests: JsonObject = { ...(resources.requests as JsonObject | undefined) }
  if (Object.keys(limits).length + Object.keys(requests).length === 0) return
  for (const [name, sum] of aggregate(spec, 'limits'))
    if (isHugePages(name) && requests[name] === undefined) limits[name] ??= sum.toString()
  if (Object.keys(limits).length === 0) return
  resources.limits = limits
  for (const [name, sum] of aggregate(spec, 'requests'))
    if (name === 'cpu' || name === 'memory') requests[name] ??= sum.toString()
  for (const [name, limit] of Object.entries(limits))
    if (name === 'cpu' || name === 'memory' || isHugePages(name)) requests[name] ??= limit
  if (Object.keys(requests).length > 0) resources.requests = requests
}

/** What only a pod itself gets: requests that are not given are the limits. */
export function defaultPodResources(spec: JsonObject): void {
  for (const container of [...list(spec.initContainers), ...list(spec.containers)]) {
    const { limits, requests } = (container.resources ?? {}) as { limits?: JsonObject; requests?: JsonObject }
    if (!limits) continue
    const filled: JsonObject = { ...requests }
    for (const [name, amount] of Object.entries(limits)) filled[name] ??= amount
    ;(container.resources as JsonObject).requests = filled
  }
}

function defaultContainer(container: JsonObject): void {
  const image = typeof container.image === 'string' ? container.image : ''
  fill(container, {
    resources: {},
    terminationMessagePath: '/dev/termination-log',
    terminationMessagePolicy: 'File',
    imagePullPolicy: pullPolicyFor(image),
  })
  for (const port of list(container.ports)) port.protocol ??= 'TCP'
  for (const variable of list(container.env)) {
    const { fieldRef } = (variable.valueFrom ?? {}) as { fieldRef?: JsonObject }
    if (fieldRef) fieldRef.apiVersion ??= 'v1'
  }
  for (const probe of [container.livenessProbe, container.readinessProbe, container.startupProbe]) {
    if (isObject(probe)) defaultProbe(probe)
  }
  if (isObject(container.lifecycle)) {
    for (const hook of Object.values(container.lifecycle)) if (isObject(hook)) defaultHandler(hook)
  }
}

const pullPolicyFor = (image: string): string => (isLatest(image) ? 'Always' : 'IfNotPresent')

/** Whether an image has no tag, or the tag `latest`, and no digest. */
function isLatest(image: string): boolean {
  if (image.includes('@')) return false
  const last = image.slice(image.lastIndexOf('/') + 1)
  const colon = last.indexOf(':')
  return colon < 0 || last.slice(colon + 1) === 'latest'
}

function defaultProbe(probe: JsonObject): void {
  fill(probe, { timeoutSeconds: 1, periodSeconds: 10, successThreshold: 1, failureThreshold: 3 })
  defaultHandler(probe)
}

function defaultHandler(handler: JsonObject): void {
  if (isObject(handler.httpGet)) fill(handler.httpGet, { path: '/', scheme: 'HTTP' })
  if (isObject(handler.grpc)) fill(handler.grpc, { service: '' })
}

const ownerOnlyWrite = 0o644

function defaultVolume(volume: JsonObject): void {
  if (Object.keys(volume).every(key => key === 'name')) volume.emptyDir = {}
  for (const source of [volume.secret, volume.configMap])
    if (isObject(source)) source.defaultMode ??= ownerOnlyWrite
  if (isObject(volume.downwardAPI)) {
    volume.downwardAPI.defaultMode ??= ownerOnlyWrite
    defaultDownwardItems(volume.downwardAPI)
  }
  if (isObject(volume.projected)) defaultProjected(volume.projected)
  if (isObject(volume.hostPath)) volume.hostPath.type ??= ''
  if (isObject(volume.image)) volume.image.pullPolicy ??= pullPolicyFor(textOf(volume.image.reference))
  if (isObject(volume.ephemeral)) defaultClaimTemplate(volume.ephemeral)
  defaultRemoteVolume(volume)
}

function defaultDownwardItems(source: JsonObject): void {
  for (const item of list(source.items)) if (isObject(item.fieldRef)) item.fieldRef.apiVersion ??= 'v1'
}

function defaultProjected(projected: JsonObject): void {
  projected.defaultMode ??= ownerOnlyWrite
  for (const source of list(projected.sources)) {
    if (isObject(source.downwardAPI)) defaultDownwardItems(source.downwardAPI)
    if (isObject(source.serviceAccountToken)) source.serviceAccountToken.expirationSeconds ??= 3600
  }
}

function defaultClaimTemplate(ephemeral: JsonObject): void {
  const template = ephemeral.volumeClaimTemplate
  if (isObject(template) && isObject(template.spec)) template.spec.volumeMode ??= 'Filesystem'
}

/** Volumes of storage systems; persistent volumes have the same sources. */
export function defaultRemoteVolume(volume: JsonObject): void {
  if (isObject(volume.iscsi)) volume.iscsi.iscsiInterface ??= 'default'
  if (isObject(volume.rbd)) fill(volume.rbd, { pool: 'rbd', user: 'admin', keyring: '/etc/ceph/keyring' })
  if (isObject(volume.azureDisk)) {
    fill(volume.azureDisk, { cachingMode: 'ReadWrite', kind: 'Shared', fsType: 'ext4', readOnly: false })
  }
  if (isObject(volume.scaleIO)) fill(volume.scaleIO, { storageMode: 'ThinProvisioned', fsType: 'xfs' })
}
