import type { Kind, KindOf } from '@coxswain/apimachinery/kinds'
import type { DeepReadonly, ObjectKey } from '@coxswain/apimachinery/meta'
import type { Client } from '@coxswain/client'
import type { NodeView, PodView } from '@coxswain/kinds'
import type { Env } from '@coxswain/kit'
import type { EventRecorder } from '@coxswain/runtime'
import type { NodeInfo } from './node-info.ts'
import type { PodInfo } from './pod-info.ts'

/** Why a pod does not go on. No verdict at all means that it does. */
export interface Verdict {
  /**
   * `Unschedulable`: preemption may help. `UnschedulableAndUnresolvable`: it cannot. `Pending`: something outside has to
   * happen first. `Error`: the attempt is repeated.
   */
  readonly code: 'Unschedulable' | 'UnschedulableAndUnresolvable' | 'Pending' | 'Error'
  /** For the pod's condition and event. Equal texts of several nodes are counted. */
  readonly reasons: readonly string[]
  /** Who said so; set by the scheduler. */
  readonly plugin?: string
}

export function unschedulable(...reasons: readonly string[]): Verdict {
  return { code: 'Unschedulable', reasons }
}

export function unresolvable(...reasons: readonly string[]): Verdict {
  return { code: 'UnschedulableAndUnresolvable', reasons }
}

/** The plug-in has nothing to do with this pod: what it does later in the cycle is left out. */
export const skip: unique symbol = Symbol('skip')

/** What one plug-in remembers between the extension points of a cycle. */
export interface CycleData {
  /** Needed when `addPod` or `removePod` change it: preemption tries things out on copies. */
  clone?(): CycleData
  /** What the plug-in would have found if `pod` were on `node`. */
  addPod?(pod: PodInfo, node: NodeInfo): void
  removePod?(pod: PodInfo, node: NodeInfo): void
}

/** One attempt to find a node for one pod. */
export interface Cycle {
  readonly pod: PodInfo
  /** All nodes, as they were when the attempt began. */
  readonly nodes: readonly NodeInfo[]
  /** Those of them on which any pod has something to say about its neighbours. */
  readonly nodesWithAffinity: Iterable<NodeInfo>
  readonly handle: SchedulerHandle
  /** What plug-ins keep, under names of their own; see {@link CycleData}. */
  readonly data: Map<string, object>
}

/** What plug-ins may use besides the nodes. */
export interface SchedulerHandle {
  readonly env: Env
  readonly client: Client
  readonly events: EventRecorder
  /** The scheduler's own copies of what it watches; undefined for an object that is not there. */
  get<K extends Kind>(kind: K, key: ObjectKey): DeepReadonly<KindOf<K>> | undefined
  list<K extends Kind>(kind: K, namespace?: string): readonly DeepReadonly<KindOf<K>>[]
  /** Lets a pod go on that a `permit` told to wait. */
  allow(podUid: string): void
  /** Refuses it. Whether it was waiting. */
  reject(podUid: string, reason: string): boolean
  /** Takes back the node that was given to a pod which waits for somebody's permission. Whether it was waiting. */
  preempt(podUid: string): boolean
  /** Lets a pod be tried again at once that waits for an event. */
  activate(podUid: string): void
  /** Work beside the next attempts. The scheduler stops when it has ended. */
  spawn(work: () => Promise<void>): void
}

/** What of a node or a pod has changed. A node that is uncordoned counts as one with other taints. */
export type Change =
  | 'allocatable'
  | 'annotations'
  | 'claims'
  | 'conditions'
  | 'features'
  | 'gates'
  | 'labels'
  | 'scaleDown'
  | 'taints'
  | 'tolerations'

/** Something happened in the cluster. */
export interface ClusterEvent {
  /** `Pod` for pods that have a node, `UnscheduledPod` for those that have none; else the kind. */
  readonly resource: string
  readonly action: 'add' | 'update' | 'delete'
  readonly old?: unknown
  readonly object?: unknown
  /** Of an update of a node or a pod. Updates of nodes in which none of it has changed are no events. */
  readonly changes?: ReadonlySet<Change>
}

export interface NodeScore {
  readonly node: NodeInfo
  score: number
}

export type PreFilterResult = { readonly nodes?: ReadonlySet<string> } | Verdict | typeof skip | undefined

/** How long a pod may wait for somebody's permission. */
export interface Wait {
  /** Milliseconds; the pod is refused afterwards. */
  readonly wait: number
}

/** Chosen by the preemption: where the pod may go once others have left. */
export interface PostFilterResult {
  /** Empty: what was promised to the pod before no longer holds. */
  readonly nominatedNode?: string
  /** For the end of the message. */
  readonly message: string
  /** Nobody else is asked. @default false */
  readonly isLast?: boolean
}

/** Part of a scheduler's decisions. Every function is optional: a plug-in is at work where it has one. */
export interface SchedulerPlugin {
  readonly name: string
  /** Kinds it reads from the handle besides those that every scheduler watches. */
  readonly kinds?: readonly Kind[]
  /** Whether `a` comes before `b`. One plug-in of a profile has it. */
  readonly before?: (a: QueuedPod, b: QueuedPod) => boolean
  /** A verdict keeps the pod out of the queue. */
  readonly preEnqueue?: (pod: PodView, handle: SchedulerHandle) => Verdict | undefined
  /** Looks at the pod once; may name the only nodes that come into question. */
  readonly preFilter?: (cycle: Cycle) => PreFilterResult
  /** Whether the pod may run on `node`. */
  readonly filter?: (cycle: Cycle, node: NodeInfo) => Verdict | undefined
  /** Makes room where no node was found. */
  readonly postFilter?: (
    cycle: Cycle,
    failures: ReadonlyMap<string, Verdict>,
  ) => Promise<PostFilterResult> | PostFilterResult
  readonly preScore?: (cycle: Cycle, nodes: readonly NodeInfo[]) => typeof skip | undefined
  /** How good `node` is; from 0 to 100 unless `normalize` makes it so. */
  readonly score?: (cycle: Cycle, node: NodeInfo) => number
  readonly normalize?: (cycle: Cycle, scores: NodeScore[]) => void
  /** Takes what the pod needs on `node`. `unreserve` gives it back when the pod does not get there after all. */
  readonly reserve?: (cycle: Cycle, node: NodeInfo) => Verdict | undefined
  readonly unreserve?: (cycle: Cycle, node: NodeInfo) => void | Promise<void>
  readonly permit?: (cycle: Cycle, node: NodeInfo) => Verdict | Wait | undefined
  /** Whether `preBind` will have something to do: then the pod is told its node before. @default false */
  readonly willPreBind?: (cycle: Cycle, node: NodeInfo) => boolean
  /** What has to be done before the pod is bound. It rejects with the reason of `signal` when the pod is called back. */
  readonly preBind?: (cycle: Cycle, node: NodeInfo, signal: AbortSignal) => Promise<Verdict | undefined>
  /** Binds the pod and says true, or leaves it to the next plug-in. */
  readonly bind?: (cycle: Cycle, node: NodeInfo) => Promise<boolean>
  readonly postBind?: (cycle: Cycle, node: NodeInfo) => void
  /** Whether an event may let a pod pass that this plug-in has refused. @default any event may */
  readonly wakesOn?: (event: ClusterEvent, pod: PodView, handle: SchedulerHandle) => boolean
}

/** A pod that waits for its turn. */
export interface QueuedPod {
  readonly pod: PodInfo
  /** When it came into the queue this time, in milliseconds. */
  readonly since: number
  /** How often a node was looked for. */
  readonly attempts: number
}

export const highestScore = 100

/** Scales scores so that the largest is 100; `reverse` makes the smallest the best. */
export function normalizeToHighest(scores: NodeScore[], reverse = false): void {
  let highest = 0
  for (const { score } of scores) if (score > highest) highest = score
  for (const entry of scores) {
    const scaled = highest === 0 ? 0 : Math.trunc((highestScore * entry.score) / highest)
    entry.score = reverse ? highestScore - scaled : scaled
  }
}

/** The node of an event, for `wakesOn`: one that came, or one in which any of `changes` has changed. */
export function nodesOf(
  event: ClusterEvent,
  ...changes: readonly Change[]
): { old?: NodeView; node: NodeView } | undefined {
  if (event.resource !== 'Node' || event.action === 'delete') return undefined
  if (event.action === 'update' && !changes.some(change => event.changes?.has(change))) return undefined
  return {
    ...(event.old !== undefined && { old: event.old as NodeView }),
    node: event.object as NodeView,
  }
}

/**
 * Whether a node has other taints now. Nodes come tainted, so plug-ins that wait for nodes and do not look at taints look
 * again then: what they said of the node may not have been heard yet.
 */
export function isTaintChange({ resource, changes }: ClusterEvent): boolean {
  return resource === 'Node' && changes?.has('taints') === true
}

/** The pod that has left its node, by an event. */
export function leaverOf({ resource, action, old }: ClusterEvent): PodView | undefined {
  return resource === 'Pod' && action === 'delete' ? (old as PodView) : undefined
}

/** Whether an event says that a pod has left its node, or left some of it. */
export function isRoomMade({ resource, action, changes }: ClusterEvent): boolean {
  return resource === 'Pod' && (action === 'delete' || changes?.has('scaleDown') === true)
}

/** Whether the event is a change of the very pod that waits; in any of `changes`, where some are named. */
export function isChangeOf(event: ClusterEvent, pod: PodView, ...changes: readonly Change[]): boolean {
  return (
    event.resource === 'UnscheduledPod' &&
    event.action === 'update' &&
    (event.object as PodView).metadata.uid === pod.metadata.uid &&
    (changes.length === 0 || changes.some(change => event.changes?.has(change)))
  )
}
