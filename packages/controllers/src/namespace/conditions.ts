import type { NamespaceCondition } from '@coxswain/api/core/v1'
import { findStatusCondition } from '@coxswain/apimachinery/meta'
import { isSameCondition, setCondition } from '@coxswain/kinds'

/** The result of deleting the content of a namespace. */
export interface Outcome {
  /** Why discovery is incomplete, if it is. */
  readonly discoveryFailure: string | undefined
  readonly failures: readonly string[]
  /** Remaining objects, by `resource.group`. */
  readonly remaining: ReadonlyMap<string, number>
  /** Remaining objects, by finalizer. */
  readonly finalizers: ReadonlyMap<string, number>
}

interface Finding {
  readonly type: string
  readonly good: readonly [reason: string, message: string]
  readonly badReason: string
  /** Undefined if there is no problem. */
  readonly problem: (outcome: Outcome) => string | undefined
}

/** In the order of the status. Reasons and messages are kube-controller-manager's. */
const findings: readonly Finding[] = [
  {
    type: 'NamespaceDeletionDiscoveryFailure',
    good: ['ResourcesDiscovered', 'All resources successfully discovered'],
    badReason: 'DiscoveryFailed',
    problem: ({ discoveryFailure }) => discoveryFailure,
  },
  {
    type: 'NamespaceDeletionGroupVersionParsingFailure',
    good: ['ParsedGroupVersions', 'All legacy kube types successfully parsed'],
    badReason: 'GroupVersionParsingFailed',
    problem: () => undefined,
  },
  {
    type: 'NamespaceDeletionContentFailure',
    good: ['ContentDeleted', 'All content successfully deleted, may be waiting on finalization'],
    badReason: 'ContentDeletionFailed',
    problem: ({ failures }) =>
      failures.length === 0
        ? undefined
        : `Failed to delete all resource types, ${failures.length} remaining: ${failures.toSorted().join(', ')}`,
  },
  {
    type: 'NamespaceContentRemaining',
    good: ['ContentRemoved', 'All content successfully removed'],
    badReason: 'SomeResourcesRemain',
    problem: ({ remaining }) =>
      remaining.size === 0
        ? undefined
        : `Some resources are remaining: ${list(remaining, (name, count) => `${name} has ${count} resource instances`)}`,
  },
  {
    type: 'NamespaceFinalizersRemaining',
    good: ['ContentHasNoFinalizers', 'All content-preserving finalizers finished'],
    badReason: 'SomeFinalizersRemain',
    problem: ({ finalizers }) =>
      finalizers.size === 0
        ? undefined
        : `Some content in the namespace has finalizers remaining: ${list(finalizers, (name, count) => `${name} in ${count} resource instances`)}`,
  },
]

function list(counts: ReadonlyMap<string, number>, format: (name: string, count: number) => string): string {
  return [...counts]
    .map(([name, count]) => format(name, count))
    .sort()
    .join(', ')
}

type Shown = Pick<NamespaceCondition, 'type' | 'status' | 'reason' | 'message' | 'lastTransitionTime'>

/** The conditions after `outcome`; undefined if unchanged. Other conditions are kept. */
export function updateConditions(
  before: readonly Shown[],
  outcome: Outcome,
  now: string,
): readonly Shown[] | undefined {
  let conditions = before
  for (const { type, good, badReason, problem } of findings) {
    const bad = problem(outcome)
    const next: Shown =
      bad === undefined
        ? { type, status: 'False', lastTransitionTime: now, reason: good[0], message: good[1] }
        : { type, status: 'True', lastTransitionTime: now, reason: badReason, message: bad }
    if (!isSameCondition(findStatusCondition(conditions, type), next))
      conditions = setCondition(conditions, next)
  }
  return conditions === before ? undefined : conditions
}
