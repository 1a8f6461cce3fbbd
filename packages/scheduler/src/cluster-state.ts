import type { NodeView, PodView } from '@coxswain/kinds'
import { NodeInfo } from './node-info.ts'
import { createPodInfo, type PodInfo } from './pod-info.ts'

/** Where a pod is or is assumed to be. */
interface Placement {
  readonly info: PodInfo
  readonly node: string
  readonly assumed: boolean
}

const zoneLabels = ['topology.kubernetes.io/zone', 'failure-domain.beta.kubernetes.io/zone']

/**
 * The nodes and their pods: those from the watch, and assumed pods whose binding has not been observed yet. Pods on an unknown
 * node are kept until it is observed.
 */
export class ClusterState {
  readonly #nodes = new Map<string, NodeInfo>()
  readonly #placements = new Map<string, Placement>()
  readonly #homeless = new Map<string, Map<string, PodInfo>>()
  readonly #withAffinity = new Set<NodeInfo>()
  #order: readonly NodeInfo[] | undefined

  /** All nodes, alternating between zones. */
  nodes(): readonly NodeInfo[] {
    this.#order ??= interleaveZones([...this.#nodes.values()])
    return this.#order
  }

  /** The nodes with a pod that has affinity or anti-affinity terms. */
  nodesWithAffinity(): Iterable<NodeInfo> {
    return this.#withAffinity
  }

  node(name: string): NodeInfo | undefined {
    return this.#nodes.get(name)
  }

  setNode(node: NodeView): void {
    const { name } = node.metadata
    const existing = this.#nodes.get(name)
    if (existing) {
      if (zoneOf(existing.node) !== zoneOf(node)) this.#order = undefined
      existing.setNode(node)
      return
    }
    this.#order = undefined
    const info = new NodeInfo(node)
    this.#nodes.set(name, info)
    for (const pod of this.#homeless.get(name)?.values() ?? []) info.addPod(pod)
    this.#homeless.delete(name)
    this.#noteAffinity(info)
  }

  deleteNode(name: string): void {
    const info = this.#nodes.get(name)
    if (!info) return
    this.#order = undefined
    this.#nodes.delete(name)
    this.#withAffinity.delete(info)
    if (info.podCount > 0) this.#homeless.set(name, new Map([...info.pods()].map(pod => [pod.uid, pod])))
  }

  /** Records a scheduled pod from the watch, which ends its assumption. */
  setPod(pod: PodView): void {
    this.#place({ info: createPodInfo(pod), node: pod.spec.nodeName ?? '', assumed: false })
  }

  /** Returns whether it was present. */
  deletePod(uid: string): boolean {
    const placement = this.#placements.get(uid)
    if (!placement) return false
    this.#placements.delete(uid)
    const node = this.#nodes.get(placement.node)
    node?.removePod(uid)
    if (node && placement.info.hasAffinity) this.#noteAffinity(node)
    this.#homeless.get(placement.node)?.delete(uid)
    return true
  }

  /** Assumes that the pod is on `node` from now on. */
  assume(info: PodInfo, node: string): void {
    this.#place({ info, node, assumed: true })
  }

  /** Ends an assumption: the pod was not bound. Does nothing if the watch has observed the binding. */
  forget(uid: string): void {
    if (this.#placements.get(uid)?.assumed) this.deletePod(uid)
  }

  isAssumed(uid: string): boolean {
    return this.#placements.get(uid)?.assumed === true
  }

  #noteAffinity(node: NodeInfo): void {
    if (node.podsWithAffinity().size > 0) this.#withAffinity.add(node)
    else this.#withAffinity.delete(node)
  }

  #place(placement: Placement): void {
    const { info, node } = placement
    this.deletePod(info.uid)
    this.#placements.set(info.uid, placement)
    const target = this.#nodes.get(node)
    if (target) {
      target.addPod(info)
      if (info.hasAffinity) this.#noteAffinity(target)
      return
    }
    const waiting = this.#homeless.get(node) ?? new Map<string, PodInfo>()
    waiting.set(info.uid, info)
    this.#homeless.set(node, waiting)
  }
}

function zoneOf({ metadata }: NodeView): string {
  for (const label of zoneLabels) if (metadata.labels?.[label] !== undefined) return metadata.labels[label]
  return ''
}

function interleaveZones(nodes: readonly NodeInfo[]): NodeInfo[] {
  const zones = new Map<string, NodeInfo[]>()
  for (const node of nodes) {
    const zone = zoneOf(node.node)
    const members = zones.get(zone)
    if (members) members.push(node)
    else zones.set(zone, [node])
  }
  const out: NodeInfo[] = []
  for (let turn = 0; out.length < nodes.length; turn++)
    for (const members of zones.values()) if (members[turn]) out.push(members[turn]!)
  return out
}
