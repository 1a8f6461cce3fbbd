import type { BenchDefinition } from '../harness.ts'
import { manifestsCases } from './manifests.ts'

export const bench: BenchDefinition = {
  title: 'toolchain: the generators of a project, beside those for Go',
  rounds: 5,
  cases: async stack => [...(await manifestsCases(stack))],
}
