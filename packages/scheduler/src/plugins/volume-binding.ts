import { PersistentVolume, PersistentVolumeClaim } from '@coxswain/api/core/v1'
import { CSIDriver, CSINode, CSIStorageCapacity, StorageClass } from '@coxswain/api/storage/v1'
import { deepEqual } from '@coxswain/apimachinery/json'
import type { DeepReadonly, LabelSelector } from '@coxswain/apimachinery/meta'
import { labelSelectorAsSelector } from '@coxswain/apimachinery/selectors'
import { matchesNodeSelector, type PodView, parseAmount } from '@coxswain/kinds'
import type { NodeInfo } from '../node-info.ts'
import {
  type Cycle,
  nodesOf,
  type SchedulerHandle,
  type SchedulerPlugin,
  skip,
  unresolvable,
  type Verdict,
} from '../plugin.ts'
import { affinityOf } from './csi-migration.ts'
import {
  type ClaimView,
  claimNamesOf,
  findClaim,
  isClaimOf,
  isStorageEvent,
  type VolumeView,
} from './pod-claims.ts'
import { hasStorageCapacity, isCapacityGained } from './storage-capacity.ts'

const name = 'VolumeBinding'
const selectedNode = 'volume.kubernetes.io/selected-node'
const bindCompleted = 'pv.kubernetes.io/bind-completed'
const boundByController = 'pv.kubernetes.io/bound-by-controller'
const noProvisioner = 'kubernetes.io/no-provisioner'
/** Milliseconds between two checks of claims that have to be bound first. */
const pollPeriod = 1_000
const defaultBindTimeout = 600
const noVolume = "node(s) didn't find available persistent volumes to bind"

/** How the pod's claims would be bound on one node. */
interface Plan {
  readonly bindings: readonly { readonly claim: ClaimView; readonly volume: VolumeView }[]
  readonly provisions: readonly ClaimView[]
}

class Claims {
  readonly bound: ClaimView[] = []
  /** Bound once the pod has a node. */
  readonly waiting: ClaimView[] = []
  readonly immediate: ClaimView[] = []
  readonly plans: Map<string, Plan> = new Map()
}

export interface VolumeBindingArgs {
  /** @default 600 */
  readonly bindTimeoutSeconds?: number
  /** Off by default upstream, and rejected here. */
  readonly shape?: readonly { readonly utilization?: number; readonly score?: number }[]
}

/** Checks that bound volumes are accessible from the node, and finds or provisions the others on the chosen node. */
export function createVolumeBinding({
  bindTimeoutSeconds = defaultBindTimeout,
}: VolumeBindingArgs = {}): SchedulerPlugin {
  return {
    name,
    kinds: [CSIDriver, CSIStorageCapacity],
    preFilter: ({ pod: { pod }, handle, data }) => {
      const names = claimNamesOf(pod)
      if (names.length === 0) return skip
      const claims = new Claims()
      for (const { name: claimName, ephemeral } of names) {
        const claim = findClaim(handle, pod, claimName)
        const problem = findProblem(pod, claimName, claim, ephemeral)
        if (problem) return unresolvable(problem)
        sortClaim(claims, claim!, handle)
      }
      if (claims.immediate.length > 0) return unresolvable('pod has unbound immediate PersistentVolumeClaims')
      data.set(name, claims)
      return undefined
    },
    filter: ({ data, handle }, node) => {
      const claims = data.get(name) as Claims
      const reasons = new Set<string>()
      for (const claim of claims.bound) {
        const volume = handle.get(PersistentVolume, { name: claim.spec?.volumeName ?? '' })
        if (!volume) reasons.add('node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)')
        else if (!isReachable(volume, node, handle))
          reasons.add("node(s) didn't match PersistentVolume's node affinity")
      }
      const plan = planBindings(claims.waiting, node, handle, assumedBy(handle))
      if (typeof plan === 'string') reasons.add(plan)
      if (reasons.size > 0 || typeof plan === 'string') return unresolvable(...reasons)
      claims.plans.set(node.name, plan)
      return undefined
    },
    reserve: ({ data, handle }, node) => {
      for (const { claim, volume } of planOf(data, node)?.bindings ?? [])
        assumedBy(handle).set(volume.metadata.name, keyOf(claim))
      return undefined
    },
    unreserve: releaseVolumes,
    willPreBind: ({ data }, node) => {
      const plan = planOf(data, node)
      return plan !== undefined && plan.bindings.length + plan.provisions.length > 0
    },
    preBind: async (cycle, node, signal): Promise<Verdict | undefined> => {
      const plan = planOf(cycle.data, node)
      if (!plan || plan.bindings.length + plan.provisions.length === 0) return undefined
      await writeBindings(cycle, plan, node.name)
      return await waitUntilBound(cycle, plan, node.name, {
        timeout: bindTimeoutSeconds * 1_000,
        signal,
      })
    },
    postBind: releaseVolumes,
    wakesOn: (event, pod) => {
      const { resource, action, old, object } = event
      if (resource === 'StorageClass' && old !== undefined && object !== undefined)
        return !deepEqual((old as StorageClass).allowedTopologies, (object as StorageClass).allowedTopologies)
      if (resource === 'PersistentVolumeClaim') return isClaimOf(event, pod)
      if (resource === 'CSINode') return action === 'add'
      if (resource === 'CSIStorageCapacity') return isCapacityGained(event)
      if (resource === 'CSIDriver') return false
      if (action === 'delete') return false
      return isStorageEvent(event) || nodesOf(event, 'labels', 'taints') !== undefined
    },
  }
}

/** Volumes assumed for claims of pods that are not bound yet: the claim's `namespace/name` by volume. */
const assumptions = new WeakMap<SchedulerHandle, Map<string, string>>()

/** Shared by all profiles of a scheduler. */
function assumedBy(handle: SchedulerHandle): Map<string, string> {
  let assumed = assumptions.get(handle)
  if (!assumed) {
    assumed = new Map()
    assumptions.set(handle, assumed)
  }
  return assumed
}

function releaseVolumes({ data, handle }: Cycle, node: NodeInfo): void {
  for (const { volume } of planOf(data, node)?.bindings ?? []) assumedBy(handle).delete(volume.metadata.name)
}

function planOf(data: ReadonlyMap<string, object>, node: NodeInfo): Plan | undefined {
  return (data.get(name) as Claims | undefined)?.plans.get(node.name)
}

function keyOf({ metadata }: ClaimView): string {
  return `${metadata.namespace}/${metadata.name}`
}

function findProblem(
  pod: PodView,
  claimName: string,
  claim: ClaimView | undefined,
  ephemeral: boolean,
): string | undefined {
  const quoted = JSON.stringify(claimName)
  if (!claim)
    return ephemeral
      ? `waiting for ephemeral volume controller to create the persistentvolumeclaim ${quoted}`
      : `persistentvolumeclaim ${quoted} not found`
  if (claim.status?.phase === 'Lost')
    return `persistentvolumeclaim ${quoted} bound to non-existent persistentvolume ${JSON.stringify(claim.spec?.volumeName ?? '')}`
  if (claim.metadata.deletionTimestamp) return `persistentvolumeclaim ${quoted} is being deleted`
  const isOwn = claim.metadata.ownerReferences?.some(({ uid }) => uid === pod.metadata.uid)
  if (ephemeral && !isOwn) {
    const { namespace, name: podName } = pod.metadata
    return `PVC ${namespace}/${claimName} was not created for pod ${namespace}/${podName} (pod is not owner)`
  }
  return undefined
}

function sortClaim(claims: Claims, claim: ClaimView, handle: SchedulerHandle): void {
  const { volumeName, storageClassName } = claim.spec ?? {}
  if (volumeName && claim.metadata.annotations?.[bindCompleted] !== undefined) claims.bound.push(claim)
  else if (volumeName && claim.status?.phase === 'Bound') claims.bound.push(claim)
  else if (volumeName) claims.immediate.push(claim)
  else {
    const found = storageClassName ? handle.get(StorageClass, { name: storageClassName }) : undefined
    if (found?.volumeBindingMode === 'WaitForFirstConsumer') claims.waiting.push(claim)
    else claims.immediate.push(claim)
  }
}

function isReachable(
  volume: VolumeView,
  { name: nodeName, node }: NodeInfo,
  handle: SchedulerHandle,
): boolean {
  const required = affinityOf(volume, handle.get(CSINode, { name: nodeName }))
  return !required || matchesNodeSelector(required, node)
}

/** Smallest request first: it gets the smallest volume. */
function bySize(a: ClaimView, b: ClaimView): number {
  return sizeOf(a).compare(sizeOf(b))
}

const sizeOf = ({ spec }: ClaimView) => parseAmount(spec?.resources?.requests?.storage ?? '0')

/** A volume for every claim, or a provisioner for this node; otherwise why not. */
function planBindings(
  claims: readonly ClaimView[],
  node: NodeInfo,
  handle: SchedulerHandle,
  assumed: ReadonlyMap<string, string>,
): Plan | string {
  const bindings: { claim: ClaimView; volume: VolumeView }[] = []
  const provisions: ClaimView[] = []
  const taken = new Set<string>()
  for (const claim of claims.toSorted(bySize)) {
    const chosenBefore = claim.metadata.annotations?.[selectedNode]
    if (chosenBefore !== undefined && chosenBefore !== node.name) return noVolume
    const volume = chosenBefore === undefined ? findVolume(claim, node, handle, assumed, taken) : undefined
    if (volume) {
      taken.add(volume.metadata.name)
      bindings.push({ claim, volume })
      continue
    }
    const found = findProvisioner(claim, node, handle)
    if (!found) return noVolume
    if (!hasStorageCapacity(claim, found, node, handle)) return 'node(s) did not have enough free storage'
    provisions.push(claim)
  }
  return { bindings, provisions }
}

/** The smallest matching volume. */
function findVolume(
  claim: ClaimView,
  node: NodeInfo,
  handle: SchedulerHandle,
  assumed: ReadonlyMap<string, string>,
  taken: ReadonlySet<string>,
): VolumeView | undefined {
  const requestedSize = sizeOf(claim)
  const selector = claim.spec?.selector
    ? labelSelectorAsSelector(claim.spec.selector as LabelSelector)
    : undefined
  let best: VolumeView | undefined
  for (const volume of handle.list(PersistentVolume)) {
    const { capacity, claimRef, storageClassName = '', accessModes = [], volumeMode } = volume.spec ?? {}
    if (taken.has(volume.metadata.name) || volume.metadata.deletionTimestamp) continue
    const holder = assumed.get(volume.metadata.name)
    if (holder !== undefined && holder !== keyOf(claim)) continue
    if (claimRef && `${claimRef.namespace}/${claimRef.name}` !== keyOf(claim)) continue
    if (claimRef?.uid && claimRef.uid !== claim.metadata.uid) continue
    if (volume.status?.phase !== 'Available' && !claimRef) continue
    if (storageClassName !== (claim.spec?.storageClassName ?? '')) continue
    if ((volumeMode ?? 'Filesystem') !== (claim.spec?.volumeMode ?? 'Filesystem')) continue
    if (selector && !selector.matches(volume.metadata.labels)) continue
    if (!(claim.spec?.accessModes ?? []).every(mode => accessModes.includes(mode))) continue
    const size = parseAmount(capacity?.storage ?? '0')
    if (size.compare(requestedSize) < 0 || !isReachable(volume, node, handle)) continue
    if (!best || size.compare(parseAmount(best.spec?.capacity?.storage ?? '0')) < 0) best = volume
  }
  return best
}

/** The class of the claim, if it can provision volumes for this node. */
function findProvisioner(
  claim: ClaimView,
  node: NodeInfo,
  handle: SchedulerHandle,
): DeepReadonly<StorageClass> | undefined {
  const found = handle.get(StorageClass, { name: claim.spec?.storageClassName ?? '' })
  if (!found?.provisioner || found.provisioner === noProvisioner) return undefined
  const topologies = found.allowedTopologies ?? []
  const isAllowed =
    topologies.length === 0 ||
    topologies.some(({ matchLabelExpressions = [] }) =>
      matchLabelExpressions.every(({ key, values }) => values.includes(node.labels[key] ?? '')),
    )
  return isAllowed ? found : undefined
}

/** Writes the bindings; the persistent volume controller completes them. */
async function writeBindings({ handle: { client } }: Cycle, plan: Plan, node: string): Promise<void> {
  for (const { claim, volume } of plan.bindings) {
    const claimRef = {
      kind: 'PersistentVolumeClaim',
      apiVersion: 'v1',
      namespace: claim.metadata.namespace,
      name: claim.metadata.name,
      uid: claim.metadata.uid,
      resourceVersion: claim.metadata.resourceVersion,
    }
    const patch = {
      metadata: {
        resourceVersion: volume.metadata.resourceVersion,
        annotations: { [boundByController]: 'yes' },
      },
      spec: { claimRef },
    }
    await client.patch(PersistentVolume, { name: volume.metadata.name }, patch, { type: 'merge' })
  }
  for (const { metadata } of plan.provisions) {
    const key = { namespace: metadata.namespace ?? '', name: metadata.name }
    const patch = {
      metadata: { resourceVersion: metadata.resourceVersion, annotations: { [selectedNode]: node } },
    }
    if (metadata.annotations?.[selectedNode] === node) continue
    await client.patch(PersistentVolumeClaim, key, patch, { type: 'merge' })
  }
}

/** Reads from the server: the cache may not have recent writes yet. */
async function waitUntilBound(
  { handle }: Cycle,
  { bindings, provisions }: Plan,
  node: string,
  { timeout, signal }: { readonly timeout: number; readonly signal: AbortSignal },
): Promise<Verdict | undefined> {
  const { clock } = handle.env
  const deadline = clock.monotonic() + timeout
  const claims = [...bindings.map(({ claim }) => ({ claim })), ...provisions.map(claim => ({ claim, node }))]
  for (;;) {
    let bound = 0
    for (const { claim, ...provision } of claims) {
      const { namespace = '', name: claimName } = claim.metadata
      const now = await handle.client.get(PersistentVolumeClaim, { namespace, name: claimName })
      if (!now) return unresolvable(`persistentvolumeclaim ${JSON.stringify(claimName)} not found`)
      if (now.status?.phase === 'Bound') bound++
      else if ('node' in provision && now.metadata.annotations?.[selectedNode] !== node)
        return { code: 'Error', reasons: [`the provisioner of ${claimName} rejected node ${node}`] }
    }
    if (bound === claims.length) return undefined
    if (clock.monotonic() >= deadline) return { code: 'Error', reasons: ['binding volumes: timed out'] }
    await clock.sleep(pollPeriod, { signal })
  }
}
