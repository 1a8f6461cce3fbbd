import { Pod } from '@coxswain/api/core/v1'
import { type DeviceTaint, ResourceClaim, ResourceSlice } from '@coxswain/api/resource/v1'
import { deepEqual } from '@coxswain/apimachinery/json'
import { type DeepReadonly, getControllerOf, type ObjectKey } from '@coxswain/apimachinery/meta'
import { isNotFound } from '@coxswain/apimachinery/status'
import { type PodView, tolerates } from '@coxswain/kinds'
import { minOf } from '@coxswain/kit'
import {
  defineOperator,
  type MapFunction,
  type Operator,
  type OperatorClient,
  type Predicate,
  type ReconcileContext,
  type ReconcileResult,
  requeueAfter,
} from '@coxswain/runtime'
import { type Disruption, markPod } from '../pods/disruption.ts'
import { type ClaimView, claimsOf } from '../resource-claim/reconcile-pod.ts'

type SliceView = DeepReadonly<ResourceSlice>
type Allocation = NonNullable<NonNullable<ClaimView['status']>['allocation']>
type AllocatedDevice = NonNullable<NonNullable<Allocation['devices']>['results']>[number]

const tainted: Disruption = {
  reason: 'DeletionByDeviceTaintManager',
  message: 'Device Taint manager: deleting due to NoExecute taint',
}
const reason = 'DeviceTaintManagerEviction'

const poolField = 'pool'
const byPool = ({ spec }: SliceView): string[] => (spec ? [`${spec.driver}/${spec.pool.name}`] : [])

/** Evicts pods whose claims have devices with NoExecute taints that the claims do not tolerate, or no longer tolerate. */
export function createDeviceTaintEvictionController(): Operator {
  return defineOperator('device-taint-eviction-controller', operator => {
    /** The uids of pods that an event was recorded for, by key. */
    const waiting = new Map<string, string>()
    operator.index(ResourceSlice, poolField, byPool)
    operator
      .controller('device-taint-eviction')
      .for(Pod, { predicates: [claimsChanged] })
      .watches(ResourceClaim, podsOfClaim)
      .watches(ResourceSlice, podsOfSlice)
      .options({ eventSource: 'device-taint-eviction-controller', concurrency: 8 })
      .reconcile(context => reconcile(context, waiting))
  })
}

const claimsChanged: Predicate<Pod> = event => {
  if (!event.object.spec.resourceClaims?.length) return false
  if (event.type !== 'update') return true
  const view = ({ spec, status }: PodView) => [spec.nodeName, status?.resourceClaimStatuses]
  return !deepEqual(view(event.old), view(event.object))
}

const podsOfClaim = ({ metadata, status }: ClaimView): ObjectKey[] => {
  const { namespace = '' } = metadata
  const users = status?.reservedFor?.filter(user => user.resource === 'pods' && !user.apiGroup) ?? []
  return users.map(({ name }) => ({ namespace, name }))
}

const podsOfSlice: MapFunction<ResourceSlice> = (slice, lookup) => {
  const [pool] = byPool(slice)
  return lookup
    .list(ResourceClaim)
    .filter(claim => devicesOf(claim).some(device => poolOf(device) === pool))
    .flatMap(podsOfClaim)
}

const devicesOf = ({ status }: ClaimView) => status?.allocation?.devices?.results ?? []
const poolOf = ({ driver, pool }: AllocatedDevice) => `${driver}/${pool}`

async function reconcile(context: ReconcileContext, waiting: Map<string, string>): Promise<ReconcileResult> {
  const { client, key, clock, events } = context
  const id = `${key.namespace}/${key.name}`
  const pod = await client.get(Pod, key)
  if (pod?.metadata.uid !== waiting.get(id)) waiting.delete(id)
  if (!pod || pod.metadata.deletionTimestamp) return
  const at = await evictionTime(client, pod)
  if (at === undefined) {
    if (waiting.delete(id)) events.normal(pod, reason, 'Cancelling deletion')
    return
  }
  const left = at - clock.now()
  if (left > 0) {
    waiting.set(id, pod.metadata.uid)
    return requeueAfter(left)
  }
  waiting.delete(id)
  events.normal(pod, reason, 'Marking for deletion')
  try {
    await markPod(context, pod, { disruption: tainted })
    await client.delete(Pod, key, { preconditions: { uid: pod.metadata.uid } })
  } catch (error) {
    if (!isNotFound(error)) throw error
  }
}

/** When a pod has to be evicted, in milliseconds; undefined if it may stay. */
async function evictionTime(client: OperatorClient, pod: PodView): Promise<number | undefined> {
  if (!pod.spec.nodeName) return undefined
  const { namespace = '', uid } = pod.metadata
  const times: number[] = []
  for (const name of claimsOf(pod)) {
    const claim = await client.get(ResourceClaim, { namespace, name })
    if (!claim?.status?.reservedFor?.some(user => user.uid === uid)) continue
    const owner = getControllerOf(claim)
    if (owner?.kind === 'Pod' && owner.uid !== uid) continue
    for (const device of devicesOf(claim)) {
      const taints = await taintsOf(client, device)
      for (const item of taints.flatMap(taint => tolerationEnd(device, taint))) times.push(item)
    }
  }
  return times.length === 0 ? undefined : minOf(times)
}

/** Only slices of a pool's latest generation count. */
async function taintsOf(client: OperatorClient, allocated: AllocatedDevice) {
  const { items } = await client.list(ResourceSlice, { fields: { [poolField]: poolOf(allocated) } })
  // Generations beyond 2^53 are bigint: Math.max or a conversion would lose precision.
  const generationOf = ({ spec }: (typeof items)[number]) => spec?.pool.generation ?? 0
  const [newest] = items.map(generationOf).sort((a, b) => (a < b ? 1 : -1))
  const device = items
    .filter(slice => generationOf(slice) === newest)
    .flatMap(({ spec }) => spec?.devices ?? [])
    .find(({ name }) => name === allocated.device)
  return device?.taints?.filter(({ effect }) => effect === 'NoExecute') ?? []
}

/** When the toleration of a taint ends; empty if never. */
function tolerationEnd({ tolerations = [] }: AllocatedDevice, taint: DeepReadonly<DeviceTaint>): number[] {
  const fitting = tolerations.filter(
    toleration => toleration.effect === 'NoExecute' && tolerates(toleration, taint),
  )
  const since = Date.parse(taint.timeAdded ?? '') || 0
  if (fitting.length === 0) return [since]
  if (fitting.some(({ tolerationSeconds }) => tolerationSeconds === undefined)) return []
  const seconds = fitting.map(({ tolerationSeconds = 0 }) => Math.max(0, Number(tolerationSeconds)))
  return [since + minOf(seconds) * 1_000]
}
