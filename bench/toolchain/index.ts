import type { BenchDefinition } from '../harness.ts'
import { kustomizeCases } from './kustomize.ts'
import { manifestsCases } from './manifests.ts'
import { typesCases } from './types.ts'

export const bench: BenchDefinition = {
  title: 'toolchain: the generators of a project, beside those for Go',
  rounds: 7,
  cases: async stack => [
    ...(await kustomizeCases(stack)),
    ...(await manifestsCases(stack)),
    ...(await typesCases(stack)),
  ],
}
