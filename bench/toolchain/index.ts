import type { BenchDefinition } from '../harness.ts'
import { kustomizeCases } from './kustomize.ts'

export const bench: BenchDefinition = {
  title: 'toolchain: kustomize build, beside the real kustomize 5.8',
  rounds: 7,
  cases: stack => kustomizeCases(stack),
}
