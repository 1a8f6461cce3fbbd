import { parseQuantity } from '@coxswain/apimachinery/quantity'
import type { PodView } from '@coxswain/kinds'

/** What a container uses that only seems to run. */
export interface DeclaredUsage {
  readonly nanoCores: number
  readonly memoryBytes: number
}

/** Ours, and kwok's, which means the same. */
const prefixes = ['simulated.coxswain.dev/', 'kwok.x-k8s.io/']
/** A container that does nothing. */
const idle: DeclaredUsage = { nanoCores: 1_000_000, memoryBytes: 8 * 1024 * 1024 }
/** More than any machine has: beyond it, numbers would not be exact. */
const largest = 2 ** 50

/**
 * What the Pod's annotations say that each of its containers uses; a change counts from then on.
 *
 *   simulated.coxswain.dev/usage-cpu: 250m      simulated.coxswain.dev/usage-memory: 64Mi
 *
 * With a dot and a name (`usage-cpu.NAME`) they are for the container of that name. Without them a container is idle. What
 * cannot be read does not count.
 */
export function declaredUsageOf(
  { metadata: { annotations = {} } }: PodView,
  container: string,
): DeclaredUsage {
  const read = (word: string): bigint | undefined => {
    for (const prefix of prefixes) {
      const text = annotations[`${prefix}${word}.${container}`] ?? annotations[prefix + word]
      if (text !== undefined) return readMilli(text)
    }
    return undefined
  }
  const cpu = read('usage-cpu')
  const memory = read('usage-memory')
  return {
    nanoCores: cpu === undefined ? idle.nanoCores : limited(Number(cpu) * 1e6),
    memoryBytes: memory === undefined ? idle.memoryBytes : limited(Math.ceil(Number(memory) / 1000)),
  }
}

function limited(amount: number): number {
  return Math.min(Math.max(0, amount), largest)
}

function readMilli(text: string): bigint | undefined {
  try {
    return parseQuantity(text).milliValue
  } catch {
    return undefined
  }
}
