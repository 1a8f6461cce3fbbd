import { Deployment, ReplicaSet, StatefulSet } from '@coxswain/api/apps/v1'
import { ReplicationController } from '@coxswain/api/core/v1'
import type { PodDisruptionBudget } from '@coxswain/api/policy/v1'
import {
  type DeepReadonly,
  getControllerOf,
  type OwnerReference,
  parseGroupVersion,
} from '@coxswain/apimachinery/meta'
import { type PodView, scaleIntOrPercent } from '@coxswain/kinds'
import type { OperatorClient } from '@coxswain/runtime'
import { ResourceKinds } from '../resource-kinds.ts'

export type BudgetView = DeepReadonly<PodDisruptionBudget>
type Reference = DeepReadonly<OwnerReference>

export interface Expectation {
  /** The number of expected pods. */
  readonly expected: number
  /** The number of pods that have to be healthy. */
  readonly desired: number
  /** Whether pods without a controller were ignored. */
  readonly hasUnmanaged: boolean
}

/** Computes the expected and desired healthy pods of a budget. @throws if the scale of a controller cannot be read */
export async function expectPods(
  client: OperatorClient,
  { spec }: BudgetView,
  pods: readonly PodView[],
): Promise<Expectation> {
  const { maxUnavailable, minAvailable } = spec ?? {}
  if (maxUnavailable === undefined && typeof minAvailable !== 'string')
    return {
      expected: minAvailable === undefined ? 0 : pods.length,
      desired: minAvailable ?? 0,
      hasUnmanaged: false,
    }
  const { expected, hasUnmanaged } = await sumScales(client, pods)
  const desired =
    maxUnavailable === undefined
      ? scaleIntOrPercent(minAvailable, expected, 'up')
      : Math.max(0, expected - scaleIntOrPercent(maxUnavailable, expected, 'up'))
  return { expected, desired, hasUnmanaged }
}

async function sumScales(client: OperatorClient, pods: readonly PodView[]) {
  const references = new Map<string, { readonly reference: Reference; readonly pod: PodView }>()
  let hasUnmanaged = false
  for (const pod of pods) {
    const reference = getControllerOf(pod)
    if (!reference) hasUnmanaged = true
    else if (!references.has(reference.uid)) references.set(reference.uid, { reference, pod })
  }
  const scales = new Map<string, number>()
  for (const { reference, pod } of references.values()) {
    const { namespace = '', name } = pod.metadata
    const found = await findScale(client, reference, namespace)
    if (!found) throw new Error(`found no controllers for pod ${JSON.stringify(name)}`)
    scales.set(found.uid, found.replicas)
  }
  return { expected: [...scales.values()].reduce((sum, count) => sum + count, 0), hasUnmanaged }
}

interface Scale {
  /** The scale of a pod's controller: for a ReplicaSet that of its Deployment. */
  readonly uid: string
  readonly replicas: number
}

async function findScale(
  client: OperatorClient,
  reference: Reference,
  namespace: string,
): Promise<Scale | undefined> {
  return (
    (await findCachedScale(client, reference, namespace)) ?? (await readScale(client, reference, namespace))
  )
}

/** The scale of kinds that the cache holds. */
async function findCachedScale(
  client: OperatorClient,
  reference: Reference,
  namespace: string,
): Promise<Scale | undefined> {
  const { group } = parseGroupVersion(reference.apiVersion)
  const kind = kinds[`${group}/${reference.kind}`]
  if (!kind) return undefined
  const found = await client.get(kind, { namespace, name: reference.name })
  if (!found || found.metadata.uid !== reference.uid) return undefined
  const own = { uid: found.metadata.uid, replicas: found.spec?.replicas ?? 1 }
  const above = kind === ReplicaSet ? getControllerOf(found) : undefined
  if (above?.kind !== 'Deployment') return own
  const deployment = await client.get(Deployment, { namespace, name: above.name })
  if (deployment?.metadata.uid !== above.uid) return undefined
  return { uid: above.uid, replicas: deployment.spec?.replicas ?? 1 }
}

/** Reads only the number of replicas. */
const kinds: Readonly<Record<string, typeof ReplicaSet>> = {
  '/ReplicationController': ReplicationController as unknown as typeof ReplicaSet,
  'apps/ReplicaSet': ReplicaSet,
  'extensions/ReplicaSet': ReplicaSet,
  'apps/StatefulSet': StatefulSet as unknown as typeof ReplicaSet,
}

/** The scale of any other kind with a `scale` subresource. */
async function readScale(
  client: OperatorClient,
  { apiVersion, kind: kindName, name, uid }: Reference,
  namespace: string,
): Promise<Scale | undefined> {
  const kind = await new ResourceKinds(client.direct).find(apiVersion, kindName)
  const key = { namespace, name }
  const scale = await client.direct
    .subresource(kind, key, 'scale')
    .get<{ readonly metadata: { readonly uid: string }; readonly spec?: { readonly replicas?: number } }>()
  if (scale) return scale.metadata.uid === uid ? { uid, replicas: scale.spec?.replicas ?? 0 } : undefined
  if (await hasScale(client, kind)) return undefined
  const resource = kind.group === '' ? kind.resource : `${kind.resource}.${kind.group}`
  throw new Error(`${resource} does not implement the scale subresource`)
}

/** Whether the object is missing, rather than the subresource of its kind. */
async function hasScale(
  client: OperatorClient,
  {
    group,
    version,
    resource,
  }: { readonly group: string; readonly version: string; readonly resource: string },
): Promise<boolean> {
  const path = group === '' ? `/api/${version}` : `/apis/${group}/${version}`
  const { resources } = (await client.direct.raw.request({ path })) as {
    readonly resources: readonly { readonly name: string }[]
  }
  return resources.some(({ name }) => name === `${resource}/scale`)
}
