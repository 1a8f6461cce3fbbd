import type {
  Container,
  DownwardAPIProjection,
  EphemeralVolumeSource,
  LifecycleHandler,
  PodSpec,
  PodStatus,
  Probe,
  ProjectedVolumeSource,
  Volume,
} from '@coxswain/api/core/v1'
import { containerLimits, containerRequests, isHugePages, isPodLevelResource } from '@coxswain/kinds'
import type { Decoded } from '../../decoded.ts'
import { fill } from '../../shared/members.ts'
import { dropDisabledFields } from './disabled-fields.ts'

/** What a pod and the template of a pod get alike. */
export function defaultPodSpec(spec: Decoded<PodSpec>): void {
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
  for (const volume of spec.volumes ?? []) defaultVolume(volume)
}

/** `serviceAccount` is what `serviceAccountName` used to be called; both say the same. */
function defaultServiceAccount(spec: Decoded<PodSpec>): void {
  if (!spec.serviceAccountName && spec.serviceAccount) spec.serviceAccountName = spec.serviceAccount
  if (spec.serviceAccountName) spec.serviceAccount = spec.serviceAccountName
}

/** The first of a pod's addresses has a member of its own, which wins where they differ. */
export function defaultPodStatus(status: Decoded<PodStatus>): void {
  const first = (status.podIPs ?? [])[0]
  if (status.podIP && first?.ip !== status.podIP) status.podIPs = [{ ip: status.podIP }]
  else if (!status.podIP && first?.ip !== undefined) status.podIP = first.ip
}

/** Every container of a pod: init, normal, ephemeral. */
export function containersOf(spec: Decoded<PodSpec>): Decoded<Container>[] {
  return [...(spec.initContainers ?? []), ...(spec.containers ?? []), ...(spec.ephemeralContainers ?? [])]
}

/** On the network of its host a pod's ports are the host's. Templates leave that to the pods made of them. */
export function defaultHostPorts(spec: Decoded<PodSpec>): void {
  if (spec.hostNetwork !== true) return
  for (const container of [...(spec.containers ?? []), ...(spec.initContainers ?? [])])
    for (const port of container.ports ?? [])
      if (!port.hostPort && port.containerPort !== undefined) port.hostPort = port.containerPort
}

/**
 * Resources of the pod as a whole, where it has some: huge pages are limited to what its containers may have, and it asks
 * for what its containers ask for, or else for its limits.
 */
export function defaultPodLevelResources(spec: Decoded<PodSpec>): void {
  const { resources } = spec
  if (!resources) return
  const limits = { ...resources.limits }
  const requests = { ...resources.requests }
  if (Object.keys(limits).length + Object.keys(requests).length === 0) return
  for (const [name, sum] of containerLimits(spec as unknown as PodSpec))
    if (isHugePages(name) && requests[name] === undefined) limits[name] ??= sum.toString()
  if (Object.keys(limits).length === 0) return
  resources.limits = limits
  for (const [name, sum] of containerRequests(spec as unknown as PodSpec))
    if (name === 'cpu' || name === 'memory') requests[name] ??= sum.toString()
  for (const [name, limit] of Object.entries(limits)) if (isPodLevelResource(name)) requests[name] ??= limit
  if (Object.keys(requests).length > 0) resources.requests = requests
}

/** What only a pod itself gets: requests that are not given are the limits. */
export function defaultPodResources(spec: Decoded<PodSpec>): void {
  for (const container of [...(spec.initContainers ?? []), ...(spec.containers ?? [])]) {
    const { resources } = container
    if (!resources?.limits) continue
    const filled = { ...resources.requests }
    for (const [name, amount] of Object.entries(resources.limits)) filled[name] ??= amount
    resources.requests = filled
  }
}

function defaultContainer(container: Decoded<Container>): void {
  const image = container.image ?? ''
  fill(container, {
    resources: {},
    terminationMessagePath: '/dev/termination-log',
    terminationMessagePolicy: 'File',
    imagePullPolicy: pullPolicyFor(image),
  })
  for (const port of container.ports ?? []) port.protocol ??= 'TCP'
  for (const variable of container.env ?? []) {
    const { fieldRef } = variable.valueFrom ?? {}
    if (fieldRef) fieldRef.apiVersion ??= 'v1'
  }
  for (const probe of [container.livenessProbe, container.readinessProbe, container.startupProbe]) {
    if (probe) defaultProbe(probe)
  }
  if (container.lifecycle) {
    const { postStart, preStop } = container.lifecycle
    for (const hook of [postStart, preStop]) if (hook) defaultHandler(hook)
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

function defaultProbe(probe: Decoded<Probe>): void {
  fill(probe, { timeoutSeconds: 1, periodSeconds: 10, successThreshold: 1, failureThreshold: 3 })
  defaultHandler(probe)
}

function defaultHandler(handler: Decoded<LifecycleHandler> & Pick<Decoded<Probe>, 'grpc'>): void {
  if (handler.httpGet) fill(handler.httpGet, { path: '/', scheme: 'HTTP' })
  if (handler.grpc) fill(handler.grpc, { service: '' })
}

const ownerOnlyWrite = 0o644

function defaultVolume(volume: Decoded<Volume>): void {
  if (Object.keys(volume).every(key => key === 'name')) volume.emptyDir = {}
  for (const source of [volume.secret, volume.configMap]) if (source) source.defaultMode ??= ownerOnlyWrite
  if (volume.downwardAPI) {
    volume.downwardAPI.defaultMode ??= ownerOnlyWrite
    defaultDownwardItems(volume.downwardAPI)
  }
  if (volume.projected) defaultProjected(volume.projected)
  if (volume.hostPath) volume.hostPath.type ??= ''
  if (volume.image) volume.image.pullPolicy ??= pullPolicyFor(volume.image.reference ?? '')
  if (volume.ephemeral) defaultClaimTemplate(volume.ephemeral)
  defaultRemoteVolume(volume)
}

function defaultDownwardItems(source: Decoded<DownwardAPIProjection>): void {
  for (const item of source.items ?? []) if (item.fieldRef) item.fieldRef.apiVersion ??= 'v1'
}

function defaultProjected(projected: Decoded<ProjectedVolumeSource>): void {
  projected.defaultMode ??= ownerOnlyWrite
  for (const source of projected.sources ?? []) {
    if (source.downwardAPI) defaultDownwardItems(source.downwardAPI)
    if (source.serviceAccountToken) source.serviceAccountToken.expirationSeconds ??= 3600
  }
}

function defaultClaimTemplate(ephemeral: Decoded<EphemeralVolumeSource>): void {
  const template = ephemeral.volumeClaimTemplate
  if (template?.spec) template.spec.volumeMode ??= 'Filesystem'
}

/** Volumes of storage systems; persistent volumes have the same sources. */
export function defaultRemoteVolume(volume: Decoded<Volume>): void {
  if (volume.iscsi) volume.iscsi.iscsiInterface ??= 'default'
  if (volume.rbd) fill(volume.rbd, { pool: 'rbd', user: 'admin', keyring: '/etc/ceph/keyring' })
  if (volume.azureDisk) {
    fill(volume.azureDisk, { cachingMode: 'ReadWrite', kind: 'Shared', fsType: 'ext4', readOnly: false })
  }
  if (volume.scaleIO) fill(volume.scaleIO, { storageMode: 'ThinProvisioned', fsType: 'xfs' })
}
