import { PodDisruptionBudget } from '@coxswain/api/policy/v1'
import { deepClone, deepEqual } from '@coxswain/apimachinery/json'
import { type Condition, setStatusCondition } from '@coxswain/apimachinery/meta'
import { isPodReady, type PodView } from '@coxswain/kinds'
import type { ReconcileContext } from '@coxswain/runtime'
import type { BudgetView, Expectation } from './expected-pods.ts'

/** How long an allowed eviction is expected to delete its pod. */
const deletionTimeout = 120_000

type DisruptedPods = Readonly<Record<string, string | null>>

export interface Disruptions {
  /** Allowed evictions whose pods still exist. */
  readonly pods: DisruptedPods
  /** Milliseconds until the next of them expires, if any. */
  readonly next: number | undefined
}

/** Drops completed and expired evictions from those that the API server recorded. */
export function sortDisruptions(
  { events, clock }: ReconcileContext,
  budget: BudgetView,
  pods: readonly PodView[],
): Disruptions {
  const noted: DisruptedPods = budget.status?.disruptedPods ?? {}
  const { namespace, name } = budget.metadata
  const kept: Record<string, string> = {}
  let next: number | undefined
  for (const pod of pods) {
    const time = noted[pod.metadata.name]
    if (typeof time !== 'string' || pod.metadata.deletionTimestamp) continue
    const left = Date.parse(time) + deletionTimeout - clock.now()
    if (left < 0) {
      const message = `Pod was expected by PDB ${namespace}/${name} to be deleted but it wasn't`
      events.warning(pod, 'NotDeleted', message)
      continue
    }
    kept[pod.metadata.name] = time
    next = Math.min(next ?? left, left)
  }
  return { pods: kept, next }
}

export async function writeStatus(
  context: ReconcileContext,
  budget: BudgetView,
  pods: readonly PodView[],
  { expected, desired, disrupted }: Expectation & { readonly disrupted: DisruptedPods },
): Promise<void> {
  const healthy = pods.filter(
    pod => !pod.metadata.deletionTimestamp && !Object.hasOwn(disrupted, pod.metadata.name) && isPodReady(pod),
  ).length
  // Without pods no disruption is allowed, which protects the first ones until they are counted.
  const allowed = expected > 0 ? Math.max(0, healthy - desired) : 0
  const generation = budget.metadata.generation ?? 0
  const condition = {
    type: 'DisruptionAllowed',
    status: allowed > 0 ? ('True' as const) : ('False' as const),
    reason: allowed > 0 ? 'SufficientPods' : 'InsufficientPods',
    message: '',
    observedGeneration: generation,
  }
  await write(context, budget, condition, {
    currentHealthy: healthy,
    desiredHealthy: desired,
    expectedPods: expected,
    disruptionsAllowed: allowed,
    ...(Object.keys(disrupted).length > 0 && { disruptedPods: disrupted }),
    observedGeneration: generation,
  })
}

/** If the number of expected pods is unknown, no disruption is allowed. */
export async function writeFailure(
  context: ReconcileContext,
  budget: BudgetView,
  error: Error,
): Promise<void> {
  const { conditions: _, ...kept } = budget.status ?? {}
  const condition = {
    type: 'DisruptionAllowed',
    status: 'False' as const,
    reason: 'SyncFailed',
    message: error.message,
    observedGeneration: budget.status?.observedGeneration ?? 0,
  }
  await write(context, budget, condition, { ...kept, disruptionsAllowed: 0 })
}

async function write(
  { client, clock }: ReconcileContext,
  budget: BudgetView,
  condition: Omit<Condition, 'lastTransitionTime'>,
  fields: Omit<NonNullable<BudgetView['status']>, 'conditions'>,
): Promise<void> {
  const conditions = deepClone(budget.status?.conditions ?? []) as Condition[]
  const isNew = setStatusCondition(conditions, condition, clock)
  const { conditions: _, ...before } = budget.status ?? {}
  if (!isNew && deepEqual(withoutNothing(before), withoutNothing(fields))) return
  const status = { ...fields, conditions }
  await client.updateStatus(PodDisruptionBudget, { ...budget, status } as BudgetView)
}

/** Zero, empty and absent are equal. */
function withoutNothing(fields: object): object {
  return Object.fromEntries(
    Object.entries(fields).filter(
      ([, value]) => value !== 0 && !(typeof value === 'object' && isEmpty(value)),
    ),
  )
}

function isEmpty(value: object | null): boolean {
  return value === null || Object.keys(value).length === 0
}
