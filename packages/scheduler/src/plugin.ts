import type { Kind, KindOf } from '@coxswain/apimachinery/kinds'
import type { DeepReadonly, ObjectKey } from '@coxswain/apimachinery/meta'
import type { Client } from '@coxswain/client'
import type { NodeView, PodView } from '@coxswain/kinds'
import type { Env } from '@coxswain/kit'
import type { EventRecorder } from '@coxswain/runtime'
import type { NodeInfo } from './node-info.ts'
import type { PodInfo } from './pod-info.ts'

/** Why a pod is rejected. No verdict means success. */
export interface Verdict {
  /**
   * `Unschedulable`: preemption may help. `UnschedulableAndUnresolvable`: it cannot. `Pending`: waits for an external event.
   * `Error`: the attempt is retried.
   */
  readonly code: 'Unschedulable' | 'UnschedulableAndUnresolvable' | 'Pending' | 'Error'
  /** For the pod's condition and event. Equal reasons of several nodes are counted. */
  readonly reasons: readonly string[]
  /** The plug-in; set by the scheduler. */
  readonly plugin?: string
}

/** A verdict that preemption may change. */
export function unschedulable(...reasons: readonly string[]): Verdict {
  return { code: 'Unschedulable', reasons }
}

/** A verdict that preemption cannot change. */
export function unresolvable(...reasons: readonly string[]): Verdict {
  return { code: 'UnschedulableAndUnresolvable', reasons }
}

/** The plug-in is skipped for this pod in the rest of the cycle. */
export const skip: unique symbol = Symbol('skip')

/** The state of one plug-in between the extension points of a cycle. */
export interface CycleData {
  /** Required if `addPod` or `removePod` mutate it: preemption simulates on copies. */
  clone?(): CycleData
  /** Updates the state as if `pod` were on `node`. */
  addPod?(pod: PodInfo, node: NodeInfo): void
  removePod?(pod: PodInfo, node: NodeInfo): void
}

/** One attempt to find a node for one pod. */
export interface Cycle {
  readonly pod: PodInfo
  /** A snapshot of all nodes at the start of the attempt. */
  readonly nodes: readonly NodeInfo[]
  /** Those with a pod that has affinity or anti-affinity terms. */
  readonly nodesWithAffinity: Iterable<NodeInfo>
  readonly handle: SchedulerHandle
  /** State of plug-ins, by name; see {@link CycleData}. */
  readonly data: Map<string, object>
}

/** What plug-ins may use besides the nodes. */
export interface SchedulerHandle {
  readonly env: Env
  readonly client: Client
  readonly events: EventRecorder
  /** The scheduler's cached objects; undefined for an object that does not exist. */
  get<K extends Kind>(kind: K, key: ObjectKey): DeepReadonly<KindOf<K>> | undefined
  list<K extends Kind>(kind: K, namespace?: string): readonly DeepReadonly<KindOf<K>>[]
  /** Allows a pod that waits in `permit`. */
  allow(podUid: string): void
  /** Rejects a pod that waits in `permit`. Returns whether it was waiting. */
  reject(podUid: string, reason: string): boolean
  /** Preempts a pod that waits in `permit`. Returns whether it was waiting. */
  preempt(podUid: string): boolean
  /** Moves an unschedulable pod to the active queue. */
  activate(podUid: string): void
  /** Runs work in the background. The scheduler waits for it when it stops. */
  spawn(work: () => Promise<void>): void
}

/** A kind of change of a node or a pod. Uncordoning a node counts as a change of taints. */
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

/** A change in the cluster. */
export interface ClusterEvent {
  /** `Pod` for scheduled pods, `UnscheduledPod` for others; else the kind. */
  readonly resource: string
  readonly action: 'add' | 'update' | 'delete'
  readonly old?: unknown
  readonly object?: unknown
  /** For updates of a node or a pod. Node updates without such changes are not events. */
  readonly changes?: ReadonlySet<Change>
}

/** A node and its score. */
export interface NodeScore {
  readonly node: NodeInfo
  score: number
}

export type PreFilterResult = { readonly nodes?: ReadonlySet<string> } | Verdict | typeof skip | undefined

/** How long a pod may wait in `permit`. */
export interface Wait {
  /** Milliseconds, after which the pod is rejected. */
  readonly wait: number
}

/** The result of preemption: the node where the pod may be scheduled once its victims have terminated. */
export interface PostFilterResult {
  /** Empty clears the pod's nomination. */
  readonly nominatedNode?: string
  /** Appended to the message. */
  readonly message: string
  /** No further postFilter plug-in is run. @default false */
  readonly isLast?: boolean
}

/** A scheduler plug-in. It extends each extension point that it has a function for. */
export interface SchedulerPlugin {
  readonly name: string
  /** Kinds that it reads from the handle besides those that every scheduler watches. */
  readonly kinds?: readonly Kind[]
  /** Whether `a` is scheduled before `b`. Exactly one plug-in of a profile has it. */
  readonly before?: (a: QueuedPod, b: QueuedPod) => boolean
  /** A verdict keeps the pod out of the active queue. */
  readonly preEnqueue?: (pod: PodView, handle: SchedulerHandle) => Verdict | undefined
  /** Runs once per pod; may restrict the eligible nodes. */
  readonly preFilter?: (cycle: Cycle) => PreFilterResult
  /** Whether the pod may run on `node`. */
  readonly filter?: (cycle: Cycle, node: NodeInfo) => Verdict | undefined
  /** Runs if no node was found, for example to preempt. */
  readonly postFilter?: (
    cycle: Cycle,
    failures: ReadonlyMap<string, Verdict>,
  ) => Promise<PostFilterResult> | PostFilterResult
  readonly preScore?: (cycle: Cycle, nodes: readonly NodeInfo[]) => typeof skip | undefined
  /** The score of `node`; from 0 to 100 unless `normalize` scales it. */
  readonly score?: (cycle: Cycle, node: NodeInfo) => number
  readonly normalize?: (cycle: Cycle, scores: NodeScore[]) => void
  /** Reserves what the pod needs on `node`. `unreserve` releases it if the pod is not bound. */
  readonly reserve?: (cycle: Cycle, node: NodeInfo) => Verdict | undefined
  readonly unreserve?: (cycle: Cycle, node: NodeInfo) => void | Promise<void>
  readonly permit?: (cycle: Cycle, node: NodeInfo) => Verdict | Wait | undefined
  /** Whether `preBind` will do anything: then the node is nominated first. @default false */
  readonly willPreBind?: (cycle: Cycle, node: NodeInfo) => boolean
  /** Work that is needed before the pod is bound. Rejects with the reason of `signal` if the pod is preempted. */
  readonly preBind?: (cycle: Cycle, node: NodeInfo, signal: AbortSignal) => Promise<Verdict | undefined>
  /** Binds the pod and resolves with true, or leaves it to the next plug-in. */
  readonly bind?: (cycle: Cycle, node: NodeInfo) => Promise<boolean>
  readonly postBind?: (cycle: Cycle, node: NodeInfo) => void
  /** Whether an event may make a pod schedulable that this plug-in rejected. @default any event may */
  readonly wakesOn?: (event: ClusterEvent, pod: PodView, handle: SchedulerHandle) => boolean
}

/** A pod in the scheduling queue. */
export interface QueuedPod {
  readonly pod: PodInfo
  /** When it was added to the queue, in milliseconds. */
  readonly since: number
  /** The number of scheduling attempts. */
  readonly attempts: number
}

/** The highest score that a plug-in may give a node. */
export const highestScore = 100

/** Scales scores so that the highest is 100; `reverse` prefers the lowest. */
export function normalizeToHighest(scores: NodeScore[], reverse = false): void {
  let highest = 0
  for (const { score } of scores) if (score > highest) highest = score
  for (const entry of scores) {
    const scaled = highest === 0 ? 0 : Math.trunc((highestScore * entry.score) / highest)
    entry.score = reverse ? highestScore - scaled : scaled
  }
}

/** The node of an event, for `wakesOn`: an added one, or one with any of `changes`. */
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
 * Whether the taints of a node changed. Nodes are often created tainted, so plug-ins that wait for nodes and ignore taints retry
 * then: their verdict about the node may not have been recorded yet.
 */
export function isTaintChange({ resource, changes }: ClusterEvent): boolean {
  return resource === 'Node' && changes?.has('taints') === true
}

/** The pod of an event that was removed from its node. */
export function removedPodOf({ resource, action, old }: ClusterEvent): PodView | undefined {
  return resource === 'Pod' && action === 'delete' ? (old as PodView) : undefined
}

/** Whether an event removes a pod from its node, or reduces its requests. */
export function freesResources({ resource, action, changes }: ClusterEvent): boolean {
  return resource === 'Pod' && (action === 'delete' || changes?.has('scaleDown') === true)
}

/** Whether the event is a change of the waiting pod itself; of one of `changes`, if any are given. */
export function isChangeOf(event: ClusterEvent, pod: PodView, ...changes: readonly Change[]): boolean {
  return (
    event.resource === 'UnscheduledPod' &&
    event.action === 'update' &&
    (event.object as PodView).metadata.uid === pod.metadata.uid &&
    (changes.length === 0 || changes.some(change => event.changes?.has(change)))
  )
}
