import type { PodWorker } from './pod-worker.ts'

/** The workers of Pods: by `NAMESPACE/NAME`, and by node, so that a question about one node does not look at all Pods. */
export class PodWorkers {
  readonly #workers = new Map<string, PodWorker>()
  readonly #byNode = new Map<string, Set<PodWorker>>()

  get(id: string): PodWorker | undefined {
    return this.#workers.get(id)
  }

  values(): Iterable<PodWorker> {
    return this.#workers.values()
  }

  ofNode(node: string): Iterable<PodWorker> {
    return this.#byNode.get(node) ?? []
  }

  set(id: string, worker: PodWorker): void {
    this.delete(id)
    this.#workers.set(id, worker)
    const node = nodeOf(worker)
    const others = this.#byNode.get(node)
    if (others) others.add(worker)
    else this.#byNode.set(node, new Set([worker]))
  }

  delete(id: string): void {
    const worker = this.#workers.get(id)
    if (!worker) return
    this.#workers.delete(id)
    this.#byNode.get(nodeOf(worker))?.delete(worker)
  }

  clear(): void {
    this.#workers.clear()
    this.#byNode.clear()
  }
}

/** A Pod's node never changes. */
function nodeOf({ pod }: PodWorker): string {
  return pod.spec.nodeName ?? ''
}
