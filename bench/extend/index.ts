import type { BenchDefinition } from '../harness.ts'
import { startCases } from './start.ts'

/** One file for each part: a function that makes its cases. */
const parts = [startCases]

export const bench: BenchDefinition = {
  title: 'extend: control planes and API servers of one’s own, beside ours',
  rounds: 7,
  async cases() {
    return (await Promise.all(parts.map(part => part()))).flat()
  },
}
