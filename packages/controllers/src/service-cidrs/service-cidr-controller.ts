import { IPAddress, ServiceCIDR } from '@coxswain/api/networking/v1'
import { type DeepReadonly, findStatusCondition } from '@coxswain/apimachinery/meta'
import { formatTime } from '@coxswain/apimachinery/time'
import { type CIDR, parseCIDR, parseIP } from '@coxswain/apimachinery/validation'
import { setCondition } from '@coxswain/kinds'
import {
  defineOperator,
  type MapFunction,
  type Operator,
  type OperatorClient,
  type ReconcileContext,
  type ReconcileResult,
  requeueAfter,
} from '@coxswain/runtime'
import { contains, holds, overlap } from '../ip-range.ts'

type RangeView = DeepReadonly<ServiceCIDR>

const finalizer = 'networking.k8s.io/service-cidr-finalizer'
const managedBy = 'ipaddress.kubernetes.io/managed-by'
const allocator = 'ipallocator.k8s.io'
/** Milliseconds for allocators to observe that a ServiceCIDR is terminating. */
const gracePeriod = 10_000

/** Keeps ServiceCIDRs that are being deleted as long as they are the only ones that contain an allocated address. */
export function createServiceCidrController(): Operator {
  return defineOperator('service-cidr-controller', operator => {
    operator
      .controller('service-cidr')
      .for(ServiceCIDR)
      .watches(ServiceCIDR, overlapping)
      .watches(IPAddress, rangesOfAddress)
      .options({ eventSource: 'service-cidr-controller' })
      .reconcile(reconcile)
  })
}

const rangesOf = ({ spec }: RangeView): CIDR[] => (spec?.cidrs ?? []).flatMap(text => parseCIDR(text) ?? [])

/** Creating or deleting one may allow others to be deleted, or prevent it. */
const overlapping: MapFunction<ServiceCIDR> = (range, lookup) => {
  const mine = rangesOf(range)
  return lookup
    .list(ServiceCIDR)
    .filter(other => rangesOf(other).some(a => mine.some(b => overlap(a, b))))
    .map(({ metadata: { name } }) => ({ name }))
}

const rangesOfAddress: MapFunction<IPAddress> = ({ metadata }, lookup) => {
  const address = parseIP(metadata.name)
  if (!address) return []
  return lookup
    .list(ServiceCIDR)
    .filter(range => rangesOf(range).some(each => holds(each, address.bytes)))
    .map(({ metadata: { name } }) => ({ name }))
}

async function reconcile(context: ReconcileContext): Promise<ReconcileResult> {
  const { client, key, clock, events } = context
  const range = await client.get(ServiceCIDR, key)
  if (!range) return
  const { deletionTimestamp, finalizers = [] } = range.metadata
  if (deletionTimestamp === undefined) {
    const kept = finalizers.includes(finalizer)
      ? range
      : await setFinalizers(client, range, [...finalizers, finalizer])
    try {
      await setReady(context, kept, {
        status: 'True',
        reason: '',
        message: 'Kubernetes Service CIDR is ready',
      })
    } catch (error) {
      const message = 'The ServiceCIDR Status can not be set to Ready=True'
      events.warning(range, 'KubernetesServiceCIDRError', message)
      throw error
    }
    return
  }
  if (!finalizers.includes(finalizer)) return
  if (!(await isDispensable(client, range))) {
    const message =
      'There are still IPAddresses referencing the ServiceCIDR, please remove them or create a new ServiceCIDR'
    await setReady(context, range, { status: 'False', reason: 'Terminating', message })
    return
  }
  const left = Date.parse(deletionTimestamp) + gracePeriod - clock.now()
  if (left > 0) return requeueAfter(left)
  await setFinalizers(
    client,
    range,
    finalizers.filter(name => name !== finalizer),
  )
}

async function setFinalizers(
  client: OperatorClient,
  { metadata }: RangeView,
  finalizers: readonly string[],
): Promise<RangeView> {
  const { name, resourceVersion } = metadata
  const patch = { metadata: { finalizers, resourceVersion } }
  return await client.patch(ServiceCIDR, { name }, patch, { type: 'merge' })
}

async function setReady(
  { client, clock }: ReconcileContext,
  range: RangeView,
  ready: { readonly status: 'True' | 'False'; readonly reason: string; readonly message: string },
): Promise<void> {
  const conditions = range.status?.conditions ?? []
  const old = findStatusCondition(conditions, 'Ready')
  if (old?.status === ready.status && old.reason === ready.reason) return
  const condition = { type: 'Ready', ...ready, lastTransitionTime: formatTime(clock.now()) }
  await client.updateStatus(ServiceCIDR, {
    ...range,
    status: { ...range.status, conditions: setCondition(conditions, condition) },
  })
}

/** Whether other ServiceCIDRs contain all of it, or at least every address allocated from it. */
async function isDispensable(client: OperatorClient, range: RangeView): Promise<boolean> {
  const { items } = await client.list(ServiceCIDR)
  const others = items
    .filter(({ metadata }) => metadata.name !== range.metadata.name && !metadata.deletionTimestamp)
    .flatMap(rangesOf)
  const mine = rangesOf(range)
  if (mine.every(each => others.some(other => contains(other, each)))) return true
  const { items: addresses } = await client.list(IPAddress)
  return !addresses.some(({ metadata }) => {
    const bytes = parseIP(metadata.name)?.bytes
    if (!bytes || metadata.labels?.[managedBy] !== allocator) return false
    return mine.some(each => holds(each, bytes)) && !others.some(each => holds(each, bytes))
  })
}
