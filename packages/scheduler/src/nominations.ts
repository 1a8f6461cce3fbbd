import type { PodInfo } from './pod-info.ts'

const none: readonly PodInfo[] = []

/** Pods that are nominated to a node and wait for its victims to terminate. */
export class Nominations {
  readonly #byNode = new Map<string, Map<string, PodInfo>>()
  readonly #nodeOf = new Map<string, string>()

  set(pod: PodInfo, node: string): void {
    this.delete(pod.uid)
    this.#nodeOf.set(pod.uid, node)
    const pods = this.#byNode.get(node) ?? new Map<string, PodInfo>()
    pods.set(pod.uid, pod)
    this.#byNode.set(node, pods)
  }

  delete(uid: string): void {
    const node = this.#nodeOf.get(uid)
    if (node === undefined) return
    this.#nodeOf.delete(uid)
    const pods = this.#byNode.get(node)
    pods?.delete(uid)
    if (pods?.size === 0) this.#byNode.delete(node)
  }

  nodeOf(uid: string): string | undefined {
    return this.#nodeOf.get(uid)
  }

  on(node: string): readonly PodInfo[] {
    if (this.#byNode.size === 0) return none
    const pods = this.#byNode.get(node)
    return pods ? [...pods.values()] : none
  }
}
