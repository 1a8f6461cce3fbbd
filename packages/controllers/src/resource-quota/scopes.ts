import type { PersistentVolumeClaim, ResourceQuota } from '@coxswain/api/core/v1'
import type { DeepReadonly } from '@coxswain/apimachinery/meta'
import { parseQuantity } from '@coxswain/apimachinery/quantity'
import { labelSelectorAsSelector } from '@coxswain/apimachinery/selectors'
import type { PodView } from '../pods/pod-state.ts'

export interface Scope {
  readonly scopeName: string
  readonly operator: string
  readonly values?: readonly string[]
}

/** All have to hold for an object to count. */
export function scopesOf({ spec }: DeepReadonly<ResourceQuota>): readonly Scope[] {
  return [
    ...(spec?.scopes ?? []).map(scopeName => ({ scopeName, operator: 'Exists' })),
    ...(spec?.scopeSelector?.matchExpressions ?? []),
  ]
}

export function isPodInScope(pod: PodView, scope: Scope): boolean {
  const { spec } = pod
  switch (scope.scopeName) {
    case 'Terminating':
      return (spec.activeDeadlineSeconds ?? -1) >= 0
    case 'NotTerminating':
      return (spec.activeDeadlineSeconds ?? -1) < 0
    case 'BestEffort':
      return isBestEffort(pod)
    case 'NotBestEffort':
      return !isBestEffort(pod)
    case 'PriorityClass':
      return matchesValue(scope, spec.priorityClassName ? [spec.priorityClassName] : [])
    case 'CrossNamespacePodAffinity':
      return usesOtherNamespaces(pod)
    default:
      return false
  }
}

/** The volume attributes classes that a claim has, had or is to have count. */
export function isClaimInScope({ spec, status }: DeepReadonly<PersistentVolumeClaim>, scope: Scope): boolean {
  if (scope.scopeName !== 'VolumeAttributesClass') return false
  const names = [
    spec?.volumeAttributesClassName,
    status?.currentVolumeAttributesClassName,
    status?.modifyVolumeStatus?.targetVolumeAttributesClassName,
  ]
  return matchesValue(
    scope,
    names.flatMap(name => (name ? [name] : [])),
  )
}

function matchesValue(scope: Scope, values: readonly string[]): boolean {
  if (scope.operator === 'Exists') return values.length > 0
  const { scopeName: key, operator } = scope
  const selector = labelSelectorAsSelector({
    matchExpressions: [{ key, operator: operator as 'In', values: [...(scope.values ?? [])] }],
  })
  if (values.length === 0) return selector.matches({})
  return values.some(value => selector.matches({ [key]: value }))
}

/** Asks for no processor and no memory, and limits neither. */
function isBestEffort({ spec, status }: PodView): boolean {
  if (status?.qosClass) return status.qosClass === 'BestEffort'
  const all = [...spec.containers, ...(spec.initContainers ?? []), spec].map(({ resources }) => resources)
  return !all.some(resources =>
    [resources?.requests, resources?.limits].some(list =>
      ['cpu', 'memory'].some(name => list?.[name] !== undefined && !parseQuantity(list[name]).isZero),
    ),
  )
}

function usesOtherNamespaces({ spec }: PodView): boolean {
  return [spec.affinity?.podAffinity, spec.affinity?.podAntiAffinity].some(rules =>
    [
      ...(rules?.requiredDuringSchedulingIgnoredDuringExecution ?? []),
      ...(rules?.preferredDuringSchedulingIgnoredDuringExecution ?? []).map(
        ({ podAffinityTerm }) => podAffinityTerm,
      ),
    ].some(term => (term.namespaces?.length ?? 0) > 0 || term.namespaceSelector !== undefined),
  )
}
