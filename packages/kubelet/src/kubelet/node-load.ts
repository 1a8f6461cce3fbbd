import { parseQuantity } from '@coxswain/apimachinery/quantity'
import { type PodView, podRequests } from '@coxswain/kinds'

/** Why a node rejects a Pod, in the kubelet's words. */
export interface Rejection {
  readonly reason: string
  readonly message: string
}

/** The resources of a node, with the units that messages use. */
const units: readonly (readonly [resource: string, unit: number])[] = [
  ['cpu', 1],
  ['memory', 1000],
  ['ephemeral-storage', 1000],
]

/** The sum of the requests of a node's Pods. */
export class NodeLoad {
  readonly #capacity: Readonly<Record<string, string>>
  /** By Pod, then in the order of `units`, in thousandths. */
  readonly #pods = new Map<string, readonly number[]>()
  readonly #used: number[] = units.map(() => 0)

  constructor(capacity: Readonly<Record<string, string>>) {
    this.#capacity = capacity
  }

  /** Admits a Pod, or returns why it does not fit. `isNew` is false for one that was admitted before. */
  take(pod: PodView, isNew: boolean): Rejection | undefined {
    const { uid } = pod.metadata
    if (this.#pods.has(uid)) return undefined
    const requests = podRequests(pod)
    const asked = units.map(([resource]) => Number(requests.get(resource)?.milliValue ?? 0))
    const rejection = isNew ? this.#reject(asked) : undefined
    if (rejection) return rejection
    this.#pods.set(uid, asked)
    for (const [index, amount] of asked.entries()) this.#used[index]! += amount
    return undefined
  }

  /** Updates the requests of an admitted Pod. */
  change(pod: PodView): void {
    if (!this.#pods.has(pod.metadata.uid)) return
    this.release(pod.metadata.uid)
    this.take(pod, false)
  }

  release(uid: string): void {
    const asked = this.#pods.get(uid)
    if (!asked) return
    this.#pods.delete(uid)
    for (const [index, amount] of asked.entries()) this.#used[index]! -= amount
  }

  #reject(asked: readonly number[]): Rejection | undefined {
    const most = milliOf(this.#capacity.pods) / 1000
    if (this.#pods.size >= most) return outOf('pods', 1, this.#pods.size, most)
    for (const [index, [resource, unit]] of units.entries()) {
      const [requested, used] = [asked[index]!, this.#used[index]!]
      const has = milliOf(this.#capacity[resource])
      if (requested > 0 && used + requested > has)
        return outOf(resource, requested / unit, used / unit, has / unit)
    }
    return undefined
  }
}

function outOf(resource: string, requested: number, used: number, capacity: number): Rejection {
  const text = `requested: ${requested}, used: ${used}, capacity: ${capacity}`
  return { reason: `OutOf${resource}`, message: `Node didn't have enough resource: ${resource}, ${text}` }
}

function milliOf(quantity: string | undefined): number {
  return quantity === undefined ? 0 : Number(parseQuantity(quantity).milliValue)
}
