import type { JsonObject } from '@coxswain/apimachinery/json'
import { localStatus } from './api-service.ts'

/** Priorities of the built-in groups and versions, by `GROUP/VERSION`, or `VERSION` for the core group. */
const priorities: Readonly<Record<string, readonly [group: number, version: number]>> = {
  v1: [18000, 1],
  'apps/v1': [17800, 15],
  'events.k8s.io/v1': [17750, 15],
  'authentication.k8s.io/v1': [17700, 15],
  'authorization.k8s.io/v1': [17600, 15],
  'autoscaling/v1': [17500, 15],
  'autoscaling/v2': [17500, 30],
  'batch/v1': [17400, 15],
  'certificates.k8s.io/v1': [17300, 15],
  'networking.k8s.io/v1': [17200, 15],
  'policy/v1': [17100, 15],
  'rbac.authorization.k8s.io/v1': [17000, 15],
  'storage.k8s.io/v1': [16800, 15],
  'apiextensions.k8s.io/v1': [16700, 15],
  'admissionregistration.k8s.io/v1': [16700, 15],
  'scheduling.k8s.io/v1': [16600, 15],
  'coordination.k8s.io/v1': [16500, 15],
  'node.k8s.io/v1': [16300, 15],
  'discovery.k8s.io/v1': [16200, 15],
  'resource.k8s.io/v1': [16200, 21],
  'flowcontrol.apiserver.k8s.io/v1': [16100, 21],
}

/** Where discovery has a group and version. */
export interface Priorities {
  readonly groupPriority: number
  readonly versionPriority: number
}

/** Behind everything built in. */
const customPriorities = { groupPriorityMinimum: 1000, versionPriority: 100 }

/** The priorities of a group and version that this server has itself. */
export function localPriorities(group: string, version: string): Priorities {
  // Its own group has no APIService, and is always the first.
  if (group === 'apiregistration.k8s.io') return { groupPriority: 20001, versionPriority: 1 }
  const [groupPriority, versionPriority] = priorities[group === '' ? version : `${group}/${version}`] ?? [
    customPriorities.groupPriorityMinimum,
    customPriorities.versionPriority,
  ]
  return { groupPriority, versionPriority }
}

/** The label that says whether the server keeps an APIService: `onstart` once, at its start, `true` at all times. */
export const automanagedLabel = 'kube-aggregator.kubernetes.io/automanaged'

/** The APIServices of built-in groups. The group that they belong to has none. */
export function bootstrapApiServices(now: number): JsonObject[] {
  return Object.entries(priorities).map(([groupVersion, [groupPriorityMinimum, versionPriority]]) => {
    const slash = groupVersion.indexOf('/')
    const group = slash < 0 ? '' : groupVersion.slice(0, slash)
    const version = groupVersion.slice(slash + 1)
    const spec = { ...(group !== '' && { group }), version, groupPriorityMinimum, versionPriority }
    return localApiService(spec, 'onstart', now)
  })
}

/** The APIService of a group and version that custom resources have. */
export function customApiService(group: string, version: string, now: number): JsonObject {
  return localApiService({ group, version, ...customPriorities }, 'true', now)
}

function localApiService(spec: JsonObject, automanaged: string, now: number): JsonObject {
  return {
    kind: 'APIService',
    apiVersion: 'apiregistration.k8s.io/v1',
    metadata: {
      name: `${String(spec.version)}.${String(spec.group ?? '')}`,
      labels: { [automanagedLabel]: automanaged },
    },
    spec,
    status: localStatus(now),
  }
}
