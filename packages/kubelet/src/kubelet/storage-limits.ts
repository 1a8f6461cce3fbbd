import { parseQuantity } from '@coxswain/apimachinery/quantity'
import type { PodView } from '@coxswain/kinds'
import type { DiskUsage, PodIdentity } from '../container-runtime.ts'
import type { WorkerContext } from './worker-context.ts'

/** How often the disk usage of a Pod is measured, as the kubelet does. */
const interval = 10_000
const resource = 'ephemeral-storage'

/** Whether the Pod has a limit to enforce. */
function hasLimits({ spec }: PodView): boolean {
  return (
    (spec.volumes ?? []).some(({ emptyDir }) => emptyDir?.sizeLimit !== undefined) ||
    spec.containers.some(({ resources }) => resources?.limits?.[resource] !== undefined)
  )
}

/** The limit that a Pod exceeds, in the kubelet's words. */
export function findExcess({ spec }: PodView, usage: DiskUsage): string | undefined {
  for (const { name, emptyDir } of spec.volumes ?? []) {
    const limit = bytesOf(emptyDir?.sizeLimit)
    if (limit > 0 && (usage.volumes.get(name) ?? 0) > limit)
      return `Usage of EmptyDir volume "${name}" exceeds the limit "${emptyDir?.sizeLimit}". `
  }
  const limits = spec.containers.map(({ name, resources }) => ({ name, text: resources?.limits?.[resource] }))
  const known = limits.flatMap(({ text }) => (text === undefined ? [] : [parseQuantity(text)]))
  const total = known.slice(1).reduce((sum, limit) => sum.add(limit), known[0] ?? parseQuantity('0'))
  const emptyDirs = (spec.volumes ?? []).filter(({ emptyDir }) => emptyDir).map(({ name }) => name)
  const used =
    emptyDirs.reduce((sum, name) => sum + (usage.volumes.get(name) ?? 0), 0) +
    [...usage.containers.values()].reduce((sum, bytes) => sum + bytes, 0)
  if (known.length > 0 && known.length === limits.length && used > total.toNumber())
    return `Pod ephemeral local storage usage exceeds the total limit of containers ${total}. `
  for (const { name, text } of limits) {
    if (bytesOf(text) > 0 && (usage.containers.get(name) ?? 0) > bytesOf(text))
      return `Container ${name} exceeded its local ephemeral storage limit "${text}". `
  }
  return undefined
}

function bytesOf(quantity: string | undefined): number {
  return quantity === undefined ? 0 : parseQuantity(quantity).toNumber()
}

/** Watches the disk usage of one Pod, if it has a limit and the runtime measures it. */
export class StorageLimits {
  readonly #context: WorkerContext
  readonly #identity: PodIdentity
  #lookedAt: number | undefined

  constructor(context: WorkerContext, identity: PodIdentity) {
    this.#context = context
    this.#identity = identity
  }

  /** The milliseconds after which to call `check` again; undefined for never. */
  checkAfter(pod: PodView): number | undefined {
    return this.#context.runtime.diskUsage && hasLimits(pod) ? interval : undefined
  }

  /** Why the Pod has to be evicted; measures only when it is due. */
  async check(pod: PodView): Promise<string | undefined> {
    const { runtime, env } = this.#context
    if (!runtime.diskUsage || !hasLimits(pod)) return undefined
    const now = env.clock.monotonic()
    this.#lookedAt ??= now
    if (now - this.#lookedAt < interval) return undefined
    this.#lookedAt = now
    return findExcess(pod, await runtime.diskUsage(this.#identity))
  }
}
