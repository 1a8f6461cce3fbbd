import type { BenchDefinition } from '../harness.ts'
import { kustomizeCases } from './kustomize.ts'
import { manifestsCases } from './manifests.ts'

export const bench: BenchDefinition = {
  title: 'toolchain: the generators of a project and kustomize build, beside those for Go',
  rounds: 5,
  cases: async stack => [...(await manifestsCases(stack)), ...(await kustomizeCases(stack))],
}
