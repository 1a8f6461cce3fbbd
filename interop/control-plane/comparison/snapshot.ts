import { ControllerRevision, DaemonSet, Deployment, ReplicaSet, StatefulSet } from '@coxswain/api/apps/v1'
import { CronJob, Job } from '@coxswain/api/batch/v1'
import {
  ConfigMap,
  Endpoints,
  Event,
  Namespace,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
  ReplicationController,
  ResourceQuota,
  Secret,
  Service,
  ServiceAccount,
} from '@coxswain/api/core/v1'
import { EndpointSlice } from '@coxswain/api/discovery/v1'
import { PodDisruptionBudget } from '@coxswain/api/policy/v1'
import type { Kind } from '@coxswain/apimachinery/kinds'
import type { ApiObject } from '@coxswain/apimachinery/meta'
import type { Client } from '@coxswain/client'

/** What is looked at in the end. */
export const kinds: readonly Kind[] = [
  ConfigMap,
  ControllerRevision,
  CronJob,
  DaemonSet,
  Deployment,
  EndpointSlice,
  Endpoints,
  Job,
  PersistentVolumeClaim,
  Pod,
  PodDisruptionBudget,
  ReplicaSet,
  ReplicationController,
  ResourceQuota,
  Secret,
  Service,
  ServiceAccount,
  StatefulSet,
] as readonly Kind[]

/** Of the whole cluster, those whose name is the namespace's or begins with it and `-of-`. */
const clusterKinds: readonly Kind[] = [Namespace, PersistentVolume] as readonly Kind[]

/** Everything in a namespace, with what chance decided masked: one line of JSON an object, sorted, and events in words. */
export interface Snapshot {
  readonly objects: readonly string[]
  readonly events: readonly string[]
}

const hashLabels = ['pod-template-hash', 'controller-revision-hash', 'controller.kubernetes.io/hash']
const revisionAnnotation = 'deployment.kubernetes.io/revision'
/** The alphabet of generated names and hashes. */
const random = '[bcdfghjklmnpqrstvwxz2456789]'
const timeKeys =
  /^(creationTimestamp|deletionTimestamp|lastTransitionTime|lastUpdateTime|lastProbeTime|startTime|completionTime|startedAt|finishedAt|lastScheduleTime|lastSuccessfulTime)$/
const time = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g

/** A conflict; it is tried again. */
const conflict = /the object has been modified; please apply your changes/
const steps = / (from|to) \d+ (from|to) \d+$/

/** What else depends on chance. */
export interface Masks {
  readonly chanceEvents?: RegExp
  readonly chanceGenerations?: boolean
  /** Whether the steps by which sets are scaled depend on it: from how many to how many is left out. */
  readonly chanceSteps?: boolean
}

export async function takeSnapshot(
  client: Client,
  namespace: string,
  { chanceEvents, chanceGenerations = false, chanceSteps = false }: Masks,
): Promise<Snapshot> {
  const found: ApiObject[] = []
  for (const kind of kinds) {
    const { items } = await client.list(kind, { namespace })
    for (const item of items as readonly ApiObject[])
      if (item.metadata.name !== 'kube-root-ca.crt') found.push({ ...item, kind: kind.kind })
  }
  for (const kind of clusterKinds) {
    const { items } = await client.list(kind)
    for (const item of items as readonly ApiObject[])
      if (item.metadata.name === namespace || item.metadata.name.startsWith(`${namespace}-of-`))
        found.push({ ...item, kind: kind.kind })
  }
  const mask = createMask(found, namespace)
  const { items: own } = await client.list(Event, { namespace })
  // Events of cluster-scoped objects are in the default namespace.
  const { items: others } = await client.list(Event, { namespace: 'default' })
  const events = [
    ...own,
    ...others.filter(({ involvedObject }) => involvedObject.name?.startsWith(`${namespace}-of-`)),
  ]
  const reported = events.map(
    ({ type, reason, message, source, involvedObject: { kind, name, fieldPath } }) =>
      mask(
        `${type} ${reason} ${kind}/${name}${fieldPath ? ` ${fieldPath}` : ''} from ${source?.component}: ${chanceSteps ? message?.replace(steps, '') : message}`,
      ),
  )
  const hasChanceGeneration = ({ kind }: ApiObject) =>
    kind === 'EndpointSlice' || (chanceGenerations && kind === 'ReplicaSet')
  return {
    objects: found
      .map(object =>
        sortAddresses(mask(JSON.stringify(normalize(sortPorts(object), hasChanceGeneration(object))))),
      )
      .sort(),
    events: [...new Set(reported)].filter(line => !chanceEvents?.test(line) && !conflict.test(line)).sort(),
  }
}

/** Replaces uids by what they belong to, hashes by their revision, random suffixes, times and the namespace. */
function createMask(objects: readonly ApiObject[], namespace: string): (text: string) => string {
  const replacements = new Map<string, string>([[namespace, 'NAMESPACE']])
  for (const object of objects) {
    replacements.set(object.metadata.uid, `uid of ${object.kind}/${object.metadata.name}`)
    for (const label of hashLabels) {
      const hash = object.metadata.labels?.[label]
      const revision = revisionOf(object)
      if (hash !== undefined && revision !== undefined) replacements.set(hash, `HASH${revision}`)
    }
  }
  // Pods may outlive what their hash was made for.
  for (const { metadata } of objects)
    for (const label of hashLabels) {
      const hash = metadata.labels?.[label]
      if (hash !== undefined && !replacements.has(hash)) replacements.set(hash, 'HASH')
    }
  return text => {
    let masked = text
    for (const [from, to] of replacements) masked = masked.replaceAll(from, to)
    // A uid stands beside a name that may hold a hash.
    for (const [from, to] of replacements) masked = masked.replaceAll(from, to)
    return masked
      .replace(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, 'UID')
      .replace(new RegExp(`-${random}{6,10}\\b`, 'g'), '-HASH')
      .replace(new RegExp(`-${random}{5}\\b`, 'g'), '-#####')
      .replace(time, 'TIME')
      .replace(/(exceeded quota: .*) used: \S+/g, '$1 used: SOME,')
      .replace(/\b10\.1\.\d+\.\d+\b/g, 'POD-IP')
      .replace(/"(clusterIPs?|nodePort)":("[^"]*"|\[[^\]]*\]|\d+)/g, '"$1":"ALLOCATED"')
      .replace(/tick-\d{8}\b/g, 'tick-MINUTE')
  }
}

/** The real controllers put the ports of Endpoints and slices in the order of a digest of how Go prints them. */
function sortPorts(object: ApiObject): ApiObject {
  const byName = (a: { name?: string }, b: { name?: string }) => ((a.name ?? '') < (b.name ?? '') ? -1 : 1)
  if (object.kind === 'EndpointSlice')
    return { ...object, ports: (object as EndpointSlice).ports?.toSorted(byName) } as ApiObject
  if (object.kind !== 'Endpoints') return object
  const { subsets = [] } = object as Endpoints
  return {
    ...object,
    subsets: subsets.map(each => ({ ...each, ports: [...(each.ports ?? [])].sort(byName) })),
  } as ApiObject
}

/** The order of endpoints is that of addresses, which are chance's. */
function sortAddresses(text: string): string {
  const object = JSON.parse(text) as {
    kind: string
    endpoints?: object[]
    subsets?: { addresses?: object[]; notReadyAddresses?: object[] }[]
  }
  const byText = (a: object, b: object) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1)
  object.endpoints?.sort(byText)
  for (const { addresses, notReadyAddresses } of object.subsets ?? []) {
    addresses?.sort(byText)
    notReadyAddresses?.sort(byText)
  }
  return JSON.stringify(object)
}

function revisionOf(object: ApiObject): number | string | undefined {
  if (object.kind === 'ControllerRevision') return (object as { revision?: number }).revision
  return object.metadata.annotations?.[revisionAnnotation]
}

/** Keys in order; what is different every time is masked or left out, generations too when they are `volatile`. */
function normalize(value: unknown, volatile: boolean): unknown {
  if (Array.isArray(value)) return value.map(each => normalize(each, volatile))
  if (typeof value !== 'object' || value === null) return value
  const result: Record<string, unknown> = {}
  for (const [key, part] of Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))) {
    if (key === 'resourceVersion' || key === 'managedFields') continue
    if (volatile && (key === 'generation' || key === 'observedGeneration')) continue
    result[key] = timeKeys.test(key) ? 'TIME' : normalize(part, volatile)
  }
  return result
}
