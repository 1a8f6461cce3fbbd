import type { PersistentVolumeClaim, ResourceQuota } from '@coxswain/api/core/v1'
import type { DeepReadonly } from '@coxswain/apimachinery/meta'
import { labelSelectorAsSelector } from '@coxswain/apimachinery/selectors'
import type { PodView } from './pod.ts'
import { qosClassOf } from './qos.ts'

type ClaimView = DeepReadonly<PersistentVolumeClaim>

/** What a quota limits itself to: objects of a scope, perhaps with certain values. */
export interface QuotaScope {
  readonly scopeName: string
  readonly operator: string
  readonly values?: readonly string[]
}

/** The scopes of a quota. An object counts only when it is in all of them. */
export function quotaScopesOf({ spec }: Pick<DeepReadonly<ResourceQuota>, 'spec'>): readonly QuotaScope[] {
  return [
    ...(spec?.scopes ?? []).map(scopeName => ({ scopeName, operator: 'Exists' })),
    ...(spec?.scopeSelector?.matchExpressions ?? []),
  ]
}

/** Whether a Pod may only run for a limited time: what the quota scope Terminating means. */
export function hasActiveDeadline({ spec }: Pick<PodView, 'spec'>): boolean {
  return Number(spec?.activeDeadlineSeconds ?? -1) >= 0
}

/** Whether a Pod is in the scope of a quota. */
export function isPodInQuotaScope(pod: PodView, scope: QuotaScope): boolean {
  switch (scope.scopeName) {
    case 'Terminating':
      return hasActiveDeadline(pod)
    case 'NotTerminating':
      return !hasActiveDeadline(pod)
    case 'BestEffort':
      return qosClassOf(pod) === 'BestEffort'
    case 'NotBestEffort':
      return qosClassOf(pod) !== 'BestEffort'
    case 'PriorityClass': {
      const { priorityClassName } = pod.spec
      return matchesValue(scope, priorityClassName ? [priorityClassName] : [])
    }
    case 'CrossNamespacePodAffinity':
      return hasCrossNamespaceAffinity(pod)
    default:
      return false
  }
}

/** Whether a PersistentVolumeClaim is in the scope of a quota. */
export function isClaimInQuotaScope(claim: ClaimView, scope: QuotaScope): boolean {
  return scope.scopeName === 'VolumeAttributesClass' && matchesValue(scope, volumeAttributesClassesOf(claim))
}

/** The VolumeAttributesClasses that a claim has, had or is changing to. */
export function volumeAttributesClassesOf({ spec, status }: ClaimView): string[] {
  const names = [
    spec?.volumeAttributesClassName,
    status?.currentVolumeAttributesClassName,
    status?.modifyVolumeStatus?.targetVolumeAttributesClassName,
  ]
  return [...new Set(names.flatMap(name => name || []))]
}

function matchesValue(scope: QuotaScope, values: readonly string[]): boolean {
  if (scope.operator === 'Exists') return values.length > 0
  const { scopeName: key, operator } = scope
  const selector = labelSelectorAsSelector({
    matchExpressions: [{ key, operator: operator as 'In', values: [...(scope.values ?? [])] }],
  })
  if (values.length === 0) return selector.matches({})
  return values.some(value => selector.matches({ [key]: value }))
}

function hasCrossNamespaceAffinity({ spec }: PodView): boolean {
  return [spec.affinity?.podAffinity, spec.affinity?.podAntiAffinity].some(rules =>
    [
      ...(rules?.requiredDuringSchedulingIgnoredDuringExecution ?? []),
      ...(rules?.preferredDuringSchedulingIgnoredDuringExecution ?? []).map(
        ({ podAffinityTerm }) => podAffinityTerm,
      ),
    ].some(term => (term?.namespaces?.length ?? 0) > 0 || term?.namespaceSelector !== undefined),
  )
}
