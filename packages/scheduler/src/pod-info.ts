import type { PodAffinityTerm } from '@coxswain/api/core/v1'
import type { DeepReadonly, LabelSelector } from '@coxswain/apimachinery/meta'
import { createRequirement, labelSelectorAsSelector, Selector } from '@coxswain/apimachinery/selectors'
import type { PodView } from '@coxswain/kinds'
import { computeRequests, type PodRequests } from './resources.ts'

/** A compiled affinity term. */
export interface AffinityTerm {
  readonly topologyKey: string
  readonly weight: number
  /** `namespaceLabels` are those of the other pod's namespace. */
  matches(pod: PodView, namespaceLabels: Readonly<Record<string, string>>): boolean
}

/** A pod with values that are computed once. */
export interface PodInfo extends PodRequests {
  readonly pod: PodView
  readonly uid: string
  readonly priority: number
  readonly requiredAffinity: readonly AffinityTerm[]
  readonly requiredAntiAffinity: readonly AffinityTerm[]
  readonly preferredAffinity: readonly AffinityTerm[]
  readonly preferredAntiAffinity: readonly AffinityTerm[]
  readonly hasAffinity: boolean
}

const none: readonly AffinityTerm[] = []

export function createPodInfo(pod: PodView): PodInfo {
  const { podAffinity, podAntiAffinity } = pod.spec.affinity ?? {}
  const required = (terms: readonly DeepReadonly<PodAffinityTerm>[] = []) =>
    terms.length === 0 ? none : terms.map(term => compileTerm(pod, term, 0))
  const preferred = (
    terms: readonly {
      readonly weight: number
      readonly podAffinityTerm: DeepReadonly<PodAffinityTerm>
    }[] = [],
  ) => (terms.length === 0 ? none : terms.map(term => compileTerm(pod, term.podAffinityTerm, term.weight)))
  const info = {
    pod,
    uid: pod.metadata.uid,
    priority: pod.spec.priority ?? 0,
    requiredAffinity: required(podAffinity?.requiredDuringSchedulingIgnoredDuringExecution),
    requiredAntiAffinity: required(podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution),
    preferredAffinity: preferred(podAffinity?.preferredDuringSchedulingIgnoredDuringExecution),
    preferredAntiAffinity: preferred(podAntiAffinity?.preferredDuringSchedulingIgnoredDuringExecution),
    ...computeRequests(pod),
  }
  const hasAffinity =
    info.requiredAffinity.length +
      info.requiredAntiAffinity.length +
      info.preferredAffinity.length +
      info.preferredAntiAffinity.length >
    0
  return { ...info, hasAffinity }
}

function compileTerm(owner: PodView, term: DeepReadonly<PodAffinityTerm>, weight: number): AffinityTerm {
  const { topologyKey, namespaceSelector } = term
  const selector = withLabelKeys(owner, term)
  const named = new Set(term.namespaces ?? [])
  if (named.size === 0 && !namespaceSelector) named.add(owner.metadata.namespace ?? '')
  const namespaces = namespaceSelector
    ? labelSelectorAsSelector(namespaceSelector as LabelSelector)
    : Selector.nothing
  return {
    topologyKey,
    weight,
    matches: ({ metadata }, namespaceLabels) =>
      (named.has(metadata.namespace ?? '') || namespaces.matches(namespaceLabels)) &&
      selector.matches(metadata.labels),
  }
}

/** The API server merges `matchLabelKeys` into the selector; objects of older servers are merged here. */
function withLabelKeys(owner: PodView, term: DeepReadonly<PodAffinityTerm>): Selector {
  const selector = labelSelectorAsSelector(term.labelSelector as LabelSelector | undefined)
  if (selector.isNothing) return selector
  const labels = owner.metadata.labels ?? {}
  const has = (key: string) => selector.requirements.some(requirement => requirement.key === key)
  const add = (keys: readonly string[] = [], operator: 'in' | 'notin') =>
    keys.flatMap(key =>
      labels[key] === undefined || has(key) ? [] : [createRequirement(key, operator, [labels[key]])],
    )
  const more = [...add(term.matchLabelKeys, 'in'), ...add(term.mismatchLabelKeys, 'notin')]
  return more.length === 0 ? selector : selector.add(...more)
}
