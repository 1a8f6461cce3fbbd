import type { BenchDefinition } from '../harness.ts'
import { startCases } from './start.ts'
import { storageCases } from './storage.ts'

/** One file for each part: a function that makes its cases. */
const parts = [storageCases, startCases]

export const bench: BenchDefinition = {
  title: 'extend: control planes and API servers of one’s own, beside ours',
  rounds: 7,
  async cases(stack) {
    return (await Promise.all(parts.map(part => part(stack)))).flat()
  },
}
