import { type NodeView, parseAmount } from '@coxswain/kinds'
import { HostPorts } from './host-ports.ts'
import type { PodInfo } from './pod-info.ts'
import { type Amounts, addAmounts, emptyAmounts, parseAmounts } from './resources.ts'

export function allowedPodsOf({ status }: NodeView): number {
  const pods = status?.allocatable?.pods
  return pods === undefined ? 0 : Number(parseAmount(pods).value)
}

/** A node and its pods. Owned by the scheduler; read-only for plug-ins. */
export class NodeInfo {
  readonly name: string
  #node: NodeView
  #allocatable: Amounts
  #allowedPods: number
  #images: ReadonlyMap<string, number>
  readonly #pods = new Map<string, PodInfo>()
  readonly #withAffinity = new Map<string, PodInfo>()
  readonly #withAntiAffinity = new Map<string, PodInfo>()
  /** The sum of its pods' requests. */
  readonly requested: Amounts = emptyAmounts()
  /** The same, with defaults for missing requests. */
  readonly nonZero = { milliCpu: 0, memory: 0 }
  readonly ports: HostPorts = new HostPorts()

  constructor(node: NodeView) {
    this.name = node.metadata.name
    this.#node = node
    this.#allocatable = emptyAmounts()
    this.#allowedPods = 0
    this.#images = new Map()
    this.setNode(node)
  }

  get node(): NodeView {
    return this.#node
  }

  get labels(): Readonly<Record<string, string>> {
    return this.#node.metadata.labels ?? {}
  }

  get allocatable(): Readonly<Amounts> {
    return this.#allocatable
  }

  get allowedPods(): number {
    return this.#allowedPods
  }

  /** The size of each image on the node in bytes, by name. */
  get images(): ReadonlyMap<string, number> {
    return this.#images
  }

  get podCount(): number {
    return this.#pods.size
  }

  pods(): IterableIterator<PodInfo> {
    return this.#pods.values()
  }

  /** Those with any affinity or anti-affinity term. */
  podsWithAffinity(): ReadonlyMap<string, PodInfo> {
    return this.#withAffinity
  }

  podsWithRequiredAntiAffinity(): ReadonlyMap<string, PodInfo> {
    return this.#withAntiAffinity
  }

  has(uid: string): boolean {
    return this.#pods.has(uid)
  }

  setNode(node: NodeView): void {
    this.#node = node
    this.#allocatable = parseAmounts(node.status?.allocatable)
    this.#allowedPods = allowedPodsOf(node)
    const images = new Map<string, number>()
    for (const { names = [], sizeBytes = 0 } of node.status?.images ?? [])
      for (const name of names) images.set(name, Number(sizeBytes))
    this.#images = images
  }

  addPod(info: PodInfo): void {
    this.removePod(info.uid)
    this.#pods.set(info.uid, info)
    if (info.hasAffinity) this.#withAffinity.set(info.uid, info)
    if (info.requiredAntiAffinity.length > 0) this.#withAntiAffinity.set(info.uid, info)
    this.#count(info, 1)
  }

  removePod(uid: string): void {
    const info = this.#pods.get(uid)
    if (!info) return
    this.#pods.delete(uid)
    this.#withAffinity.delete(uid)
    this.#withAntiAffinity.delete(uid)
    this.#count(info, -1)
  }

  #count(info: PodInfo, sign: 1 | -1): void {
    addAmounts(this.requested, info.requests, sign)
    this.nonZero.milliCpu += sign * info.nonZero.milliCpu
    this.nonZero.memory += sign * info.nonZero.memory
    this.ports.count(info.pod, sign)
  }

  /** A copy for simulations. */
  clone(): NodeInfo {
    const copy = new NodeInfo(this.#node)
    for (const pod of this.#pods.values()) copy.addPod(pod)
    return copy
  }
}
