import { NodeInfo, type NodeView } from './node-info.ts'
import { createPodInfo, type PodInfo, type PodView } from './pod-info.ts'

/** Where a pod is or is assumed to be. */
interface Placement {
  readonly info: PodInfo
  readonly node: string
  readonly assumed: boolean
}

const zoneLabels = ['topology.kubernetes.io/zone', 'failure-domain.beta.kubernetes.io/zone']

/**
 * The nodes and the pods on them: what the watch has brought, and pods that were given a node but whose binding has
 * not come back yet. Pods on a node that is not known are kept until it is.
 */
export class ClusterState {
  readonly #nodes = new Map<string, NodeInfo>()
  readonly #placements = new Map<string, Placement>()
  readonly #homeless = new Map<string, Map<string, PodInfo>>()
  #order: readonly NodeInfo[] | undefined

  /** All nodes, those of one zone never in a row where there are several. */
  nodes(): readonly NodeInfo[] {
    this.#order ??= interleaveZones([...this.#nodes.values()])
    return this.#order
  }

  node(name: string): NodeInfo | undefined {
    return this.#nodes.get(name)
  }

  setNode(node: NodeView): void {
    const { name } = node.metadata
    this.#order = undefined
    const existing = this.#nodes.get(name)
    if (existing) {
      existing.setNode(node)
      return
    }
    const info = new NodeInfo(node)
    this.#nodes.set(name, info)
    for (const pod of this.#homeless.get(name)?.values() ?? []) info.addPod(pod)
    this.#homeless.delete(name)
  }

  deleteNode(name: string): void {
    const info = this.#nodes.get(name)
    if (!info) return
    this.#order = undefined
    this.#nodes.delete(name)
    if (info.podCount > 0) this.#homeless.set(name, new Map([...info.pods()].map(pod => [pod.uid, pod])))
  }

  /** A pod that has a node, as the watch has it. What was assumed of it is over. */
  setPod(pod: PodView): void {
    this.#place({ info: createPodInfo(pod), node: pod.spec.nodeName ?? '', assumed: false })
  }

  deletePod(uid: string): void {
    const placement = this.#placements.get(uid)
    if (!placement) return
    this.#placements.delete(uid)
    this.#nodes.get(placement.node)?.removePod(uid)
    this.#homeless.get(placement.node)?.delete(uid)
  }

  /** The pod counts as being on `node` from now on. */
  assume(info: PodInfo, node: string): void {
    this.#place({ info, node, assumed: true })
  }

  /** The pod did not get there. Nothing happens when the watch has seen it there. */
  forget(uid: string): void {
    if (this.#placements.get(uid)?.assumed) this.deletePod(uid)
  }

  isAssumed(uid: string): boolean {
    return this.#placements.get(uid)?.assumed === true
  }

  #place(placement: Placement): void {
    const { info, node } = placement
    this.deletePod(info.uid)
    this.#placements.set(info.uid, placement)
    const target = this.#nodes.get(node)
    if (target) {
      target.addPod(info)
      return
    }
    const waiting = this.#homeless.get(node) ?? new Map<string, PodInfo>()
    waiting.set(info.uid, info)
    this.#homeless.set(node, waiting)
  }
}

function interleaveZones(nodes: readonly NodeInfo[]): NodeInfo[] {
  const zones = new Map<string, NodeInfo[]>()
  for (const node of nodes) {
    const zone = zoneLabels.map(label => node.labels[label]).find(value => value !== undefined) ?? ''
    const members = zones.get(zone)
    if (members) members.push(node)
    else zones.set(zone, [node])
  }
  const out: NodeInfo[] = []
  for (let turn = 0; out.length < nodes.length; turn++)
    for (const members of zones.values()) if (members[turn]) out.push(members[turn]!)
  return out
}
