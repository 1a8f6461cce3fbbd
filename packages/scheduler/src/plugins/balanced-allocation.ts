import { highestScore, type SchedulerPlugin, skip } from '../plugin.ts'
import { amountOf, cpuAndMemory, otherResource, type ResourceWeight } from './scored-resources.ts'

/** Prefers nodes whose resources would be used evenly. */
export function createBalancedAllocation(given: readonly ResourceWeight[] = cpuAndMemory): SchedulerPlugin {
  const resources = given.length > 0 ? given : cpuAndMemory
  return {
    name: 'NodeResourcesBalancedAllocation',
    preScore: ({ pod }) =>
      resources.every(({ name }) => amountOf(pod.requests, name) === 0) ? skip : undefined,
    score: (cycle, node) => {
      const { pod } = cycle
      const before: number[] = []
      const after: number[] = []
      for (const { name } of resources) {
        const isUsual = name === 'cpu' || name === 'memory'
        const found = isUsual ? undefined : otherResource(cycle, node, name)
        const capacity = isUsual ? amountOf(node.allocatable, name) : (found?.capacity ?? 0)
        if (capacity === 0) continue
        const used = found?.used ?? amountOf(node.requested, name)
        before.push(Math.min(1, used / capacity))
        after.push(Math.min(1, (used + amountOf(pod.requests, name)) / capacity))
      }
      const half = highestScore / 2
      return half + Math.trunc((half + evenness(after) - evenness(before)) / 2)
    },
  }
}

/** 100 if all fractions are equal. */
function evenness(fractions: readonly number[]): number {
  const mean = fractions.reduce((sum, fraction) => sum + fraction, 0) / (fractions.length || 1)
  const variance =
    fractions.reduce((sum, fraction) => sum + (fraction - mean) ** 2, 0) / (fractions.length || 1)
  const deviation = fractions.length === 2 ? Math.abs(fractions[0]! - fractions[1]!) / 2 : Math.sqrt(variance)
  return Math.trunc((1 - deviation) * highestScore)
}
