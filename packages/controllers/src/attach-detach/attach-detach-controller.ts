import { Node, PersistentVolume, PersistentVolumeClaim, Pod } from '@coxswain/api/core/v1'
import { CSIDriver, VolumeAttachment } from '@coxswain/api/storage/v1'
import { deepEqual } from '@coxswain/apimachinery/json'
import { isAlreadyExists, isNotFound } from '@coxswain/apimachinery/status'
import { type NodeView, nodeReadyCondition, type PodView } from '@coxswain/kinds'
import { minOf } from '@coxswain/kit'
import {
  defineOperator,
  type MapFunction,
  type Operator,
  type Predicate,
  type ReconcileContext,
  type ReconcileResult,
  requeueAfter,
} from '@coxswain/runtime'
import { claimNamesOf, indexPodsByClaim } from '../persistent-volume/volumes.ts'
import { indexPodsByNode, listPodKeysOn } from '../pods/pod-index.ts'
import {
  type AttachableVolume,
  type AttachmentView,
  asAttachable,
  attachmentName,
  mayBeShared,
  podsByNode,
} from './attachments.ts'

/** Set by kubelets that rely on this controller. */
const managed = 'volumes.kubernetes.io/controller-managed-attach-detach'
const outOfService = 'node.kubernetes.io/out-of-service'
/** Milliseconds to wait for an unreachable node to unmount a volume. */
const unmountTime = 360_000

const volumeField = 'persistentVolume'
const byVolume = ({ spec }: AttachmentView): string[] => {
  const name = spec?.source.persistentVolumeName
  return name === undefined ? [] : [name]
}

/** When detaching began, by attachment name, on the monotonic clock. */
type Waiting = Map<string, number>

/**
 * Attaches volumes to the nodes of the pods that use them and detaches them from other nodes, by means of VolumeAttachments, and
 * reports attached volumes in node status.
 */
export function createAttachDetachController(): Operator {
  return defineOperator('persistentvolume-attach-detach-controller', operator => {
    const waiting: Waiting = new Map()
    indexPodsByClaim(operator)
    indexPodsByNode(operator)
    operator.index(VolumeAttachment, volumeField, byVolume)
    operator
      .controller('attach-detach')
      .for(PersistentVolume, { predicates: [({ object }) => object.spec?.csi !== undefined] })
      .watches(VolumeAttachment, attachment => byVolume(attachment).map(name => ({ name })))
      .watches(PersistentVolumeClaim, ({ spec }) => (spec?.volumeName ? [{ name: spec.volumeName }] : []))
      .watches(Pod, volumesOfPod)
      .watches(Node, volumesOfNode, { predicates: [concernsVolumes] })
      .watches(CSIDriver, ({ metadata }, lookup) =>
        lookup
          .list(PersistentVolume)
          .filter(({ spec }) => spec?.csi?.driver === metadata.name)
          .map(volume => ({ name: volume.metadata.name })),
      )
      .options({ eventSource: 'attachdetach-controller', concurrency: 10 })
      .reconcile(context => reconcile(context, waiting))
  })
}

const volumesOfPod: MapFunction<Pod> = (pod, lookup) => {
  if (!pod.spec.nodeName) return []
  const { namespace = '' } = pod.metadata
  return claimNamesOf(pod).flatMap(name => {
    const volume = lookup.get(PersistentVolumeClaim, { namespace, name })?.spec?.volumeName
    return volume ? [{ name: volume }] : []
  })
}

const volumesOfNode: MapFunction<Node> = ({ metadata }, lookup) => {
  const attached = lookup
    .list(VolumeAttachment)
    .filter(({ spec }) => spec?.nodeName === metadata.name)
    .flatMap(byVolume)
  const needed = listPodKeysOn(lookup, metadata.name).flatMap(key => {
    const pod = lookup.get(Pod, key)
    return pod ? volumesOfPod(pod, lookup) : []
  })
  return [...attached.map(name => ({ name })), ...needed]
}

const concernsVolumes: Predicate<Node> = event => {
  if (event.type !== 'update') return true
  const view = (node: NodeView) => [
    node.metadata.annotations?.[managed],
    node.spec?.taints,
    nodeReadyCondition(node)?.status,
    node.status?.volumesInUse,
    node.status?.volumesAttached,
  ]
  return !deepEqual(view(event.old), view(event.object))
}

async function reconcile(context: ReconcileContext, waiting: Waiting): Promise<ReconcileResult> {
  const { client, key } = context
  const volume = await client.get(PersistentVolume, key)
  const target = volume && asAttachable(volume)
  if (!target) return
  const driver = await client.get(CSIDriver, { name: target.driver })
  if (driver?.spec?.attachRequired === false) return
  const { items } = await client.list(VolumeAttachment, { fields: { [volumeField]: key.name } })
  const pods = await podsByNode(client, target.volume)
  const present = new Map(items.map(attachment => [attachment.spec?.nodeName ?? '', attachment]))
  const delays: number[] = []
  for (const [name, attachment] of present) {
    if (pods.has(name)) waiting.delete(attachment.metadata.name)
    else delays.push(await detach(context, target, attachment, waiting))
  }
  for (const [name, users] of pods) {
    const node = await client.get(Node, { name })
    if (node?.metadata.annotations?.[managed] === 'true')
      await attach(context, target, { node, users, present, pods })
  }
  const next = minOf(delays)
  return Number.isFinite(next) ? requeueAfter(next) : undefined
}

interface Demand {
  readonly node: NodeView
  /** Its pods that use the volume. */
  readonly users: readonly PodView[]
  readonly present: ReadonlyMap<string, AttachmentView>
  readonly pods: ReadonlyMap<string, readonly PodView[]>
}

async function attach(context: ReconcileContext, target: AttachableVolume, demand: Demand): Promise<void> {
  const { client, events } = context
  const { node, users, present } = demand
  const { name: volume } = target.volume.metadata
  const attachment = present.get(node.metadata.name)
  if (!attachment) {
    if (present.size > 0 && !mayBeShared(target.volume)) reportMultiAttach(context, target, demand)
    else await createAttachment(context, target, node)
    return
  }
  const { attached, attachError } = attachment.status ?? {}
  if (attached && !attachment.metadata.deletionTimestamp) {
    if (!(await reportVolume(client, node, { name: target.uniqueName, isAttached: true }))) return
    const message = `AttachVolume.Attach succeeded for volume "${volume}" `
    for (const pod of users) events.normal(pod, 'SuccessfulAttachVolume', message)
  } else if (attachError) {
    const message = `AttachVolume.Attach failed for volume "${volume}" : ${attachError.message ?? ''}`
    for (const pod of users) events.warning(pod, 'FailedAttachVolume', message)
  }
}

async function createAttachment(
  { client }: ReconcileContext,
  target: AttachableVolume,
  { metadata: { name: nodeName } }: NodeView,
): Promise<void> {
  const source = { persistentVolumeName: target.volume.metadata.name }
  try {
    await client.create(VolumeAttachment, {
      metadata: { name: attachmentName(target, nodeName) },
      spec: { attacher: target.driver, nodeName, source },
    })
  } catch (error) {
    if (!isAlreadyExists(error)) throw error
  }
}

/** Reports that the volume is attached to another node and cannot be shared. Does not reveal pod names of other namespaces. */
function reportMultiAttach({ events }: ReconcileContext, { volume }: AttachableVolume, demand: Demand): void {
  const { users, present, pods } = demand
  const others = [...present.keys()].flatMap(name => pods.get(name) ?? [])
  for (const pod of users) {
    const { namespace } = pod.metadata
    const local = others.filter(({ metadata }) => metadata.namespace === namespace)
    const elsewhere = others.length - local.length
    const names = local.map(({ metadata }) => metadata.name).join(', ')
    const reason =
      others.length === 0
        ? 'Volume is already exclusively attached to one node, waiting on detach before it can be attached to another node'
        : local.length === 0
          ? `Volume is already used by ${elsewhere} pod(s) in different namespaces`
          : `Volume is already used by pod(s) ${names}${elsewhere > 0 ? ` and ${elsewhere} pod(s) in different namespaces` : ''}`
    const message = `Waiting for detach for volume "${volume.metadata.name}" ${reason}`
    events.warning(pod, 'FailedAttachVolume', message)
  }
}

/**
 * Detaches a volume that no pod of its node uses once the node has unmounted it. Waits six minutes for an unreachable node, and
 * does not wait for one that is out of service.
 * @returns milliseconds until the next check
 */
async function detach(
  { client, clock }: ReconcileContext,
  { uniqueName }: AttachableVolume,
  { metadata, spec }: AttachmentView,
  waiting: Waiting,
): Promise<number> {
  const { name, uid } = metadata
  if (metadata.deletionTimestamp) {
    waiting.delete(name)
    return Number.POSITIVE_INFINITY
  }
  const now = clock.monotonic()
  const since = waiting.get(name) ?? now
  waiting.set(name, since)
  const key = { name: spec?.nodeName ?? '' }
  const node = await client.get(Node, key)
  const isOver = (since + unmountTime <= now && !isReady(node)) || isOutOfService(node)
  if (!isOver && isMounted(node, uniqueName))
    return isReady(node) ? Number.POSITIVE_INFINITY : since + unmountTime - now
  if (node) await reportVolume(client, node, { name: uniqueName, isAttached: false })
  // It may have been mounted again before the node observed the change.
  if (!isOver && isMounted(await client.get(Node, key, { cached: false }), uniqueName)) return 1_000
  try {
    await client.delete(VolumeAttachment, { name }, { preconditions: { uid } })
  } catch (error) {
    if (!isNotFound(error)) throw error
  }
  waiting.delete(name)
  return Number.POSITIVE_INFINITY
}

const isReady = (node: NodeView | undefined) =>
  node !== undefined && nodeReadyCondition(node)?.status === 'True'
const isOutOfService = (node: NodeView | undefined) =>
  node?.spec?.taints?.some(({ key }) => key === outOfService) ?? false
/** True also for an unknown node. */
const isMounted = (node: NodeView | undefined, uniqueName: string) =>
  node?.status?.volumesInUse?.includes(uniqueName) ?? node === undefined

/** Updates the node's attached volumes; resolves with whether they changed. */
async function reportVolume(
  client: ReconcileContext['client'],
  { metadata, status }: NodeView,
  { name: uniqueName, isAttached }: { readonly name: string; readonly isAttached: boolean },
): Promise<boolean> {
  const present = status?.volumesAttached ?? []
  if (present.some(({ name }) => name === uniqueName) === isAttached) return false
  const others = present.filter(({ name }) => name !== uniqueName)
  const volumesAttached = isAttached ? [...others, { name: uniqueName, devicePath: '' }] : others
  const { name, uid, resourceVersion } = metadata
  const patch = { metadata: { uid, resourceVersion }, status: { volumesAttached } }
  await client.patch(Node, { name }, patch, { type: 'merge', subresource: 'status' })
  return true
}
