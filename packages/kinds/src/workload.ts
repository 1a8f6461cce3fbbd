import type { LabelSelector } from '@coxswain/apimachinery/meta'
import { labelSelectorAsSelector, type Selector } from '@coxswain/apimachinery/selectors'

/** The Pods that a workload selects by its `spec.selector`. Without one it selects nothing. */
export function podSelectorOf({ spec }: { readonly spec?: { readonly selector?: unknown } }): Selector {
  return labelSelectorAsSelector(spec?.selector as LabelSelector | undefined)
}
