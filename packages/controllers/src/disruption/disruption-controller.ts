import { Pod } from '@coxswain/api/core/v1'
import { PodDisruptionBudget } from '@coxswain/api/policy/v1'
import type { ObjectKey } from '@coxswain/apimachinery/meta'
import { isConflict } from '@coxswain/apimachinery/status'
import { type PodView, podSelectorOf } from '@coxswain/kinds'
import {
  defineOperator,
  type Lookup,
  type Operator,
  type ReconcileContext,
  type ReconcileResult,
  requeueAfter,
} from '@coxswain/runtime'
import { type BudgetView, type Expectation, expectPods } from './expected-pods.ts'
import { clearStaleMark, isMarked } from './stale-disruption.ts'
import { sortDisruptions, writeFailure, writeStatus } from './status.ts'

/** Computes how many pods of a PodDisruptionBudget may be evicted; the API server enforces it. */
export function createDisruptionController(): Operator {
  return defineOperator('disruption-controller', operator => {
    operator
      .controller('disruption')
      .for(PodDisruptionBudget)
      .watches(Pod, budgetsFor)
      .options({ eventSource: 'controllermanager' })
      .reconcile(reconcile)
    operator
      .controller('stale-pod-disruption')
      .for(Pod, { predicates: [({ object }) => isMarked(object)] })
      .reconcile(clearStaleMark)
  })
}

function selects({ spec }: BudgetView, { metadata }: PodView): boolean {
  return podSelectorOf({ spec }).matches(metadata.labels)
}

function budgetsFor(pod: PodView, lookup: Lookup): ObjectKey[] {
  const { namespace = '' } = pod.metadata
  return lookup
    .list(PodDisruptionBudget, { namespace })
    .filter(budget => selects(budget, pod))
    .map(({ metadata }) => ({ namespace, name: metadata.name }))
}

async function reconcile(context: ReconcileContext): Promise<ReconcileResult> {
  const { client, key } = context
  const budget = await client.get(PodDisruptionBudget, key)
  if (!budget) return
  try {
    return await sync(context, budget)
  } catch (error) {
    if (isConflict(error)) throw error
    context.log.error('failed to sync a PodDisruptionBudget', { error })
    await writeFailure(context, budget, error as Error)
  }
}

async function sync(context: ReconcileContext, budget: BudgetView): Promise<ReconcileResult> {
  const { client, key, events } = context
  const namespace = key.namespace ?? ''
  const { items } = await client.list(Pod, { namespace })
  const pods = items.filter(pod => selects(budget, pod))
  if (pods.length === 0) events.normal(budget, 'NoPods', 'No matching pods found')
  await reportOverlaps(context, budget, pods)
  let expectation: Expectation
  try {
    expectation = await expectPods(client, budget, pods)
  } catch (error) {
    const message = `Failed to calculate the number of expected pods: ${(error as Error).message}`
    events.warning(budget, 'CalculateExpectedPodCountFailed', message)
    throw error
  }
  if (expectation.hasUnmanaged) events.warning(budget, 'UnmanagedPods', unmanagedMessage(budget))
  const disruptions = sortDisruptions(context, budget, pods)
  await writeStatus(context, budget, pods, { ...expectation, disrupted: disruptions.pods })
  return disruptions.next === undefined ? undefined : requeueAfter(disruptions.next + 1)
}

/** Records an event if several budgets select a pod, only on the first of them. */
async function reportOverlaps(
  { client, events, key }: ReconcileContext,
  budget: BudgetView,
  pods: readonly PodView[],
): Promise<void> {
  const { items: budgets } = await client.list(PodDisruptionBudget, { namespace: key.namespace ?? '' })
  if (budgets.length < 2) return
  for (const pod of pods) {
    const names = budgets.filter(other => selects(other, pod)).map(({ metadata }) => metadata.name)
    if (names.length < 2 || names.sort()[0] !== budget.metadata.name) continue
    const { namespace, name } = pod.metadata
    const message = `Pod "${namespace}"/"${name}" matches multiple PodDisruptionBudgets.  Chose "${names[0]}" arbitrarily.`
    events.warning(pod, 'MultiplePodDisruptionBudgets', message)
  }
}

function unmanagedMessage({ spec }: BudgetView): string {
  return [
    `Pods selected by this PodDisruptionBudget (selector: ${formatSelector(spec?.selector)}) were found`,
    'to be unmanaged. As a result, the status of the PDB cannot be calculated correctly, which may result in undefined',
    'behavior. To account for these pods please set ".spec.minAvailable" field of the PDB to an integer value.',
  ].join(' ')
}

/** In Go's format. */
function formatSelector(selector: NonNullable<BudgetView['spec']>['selector']): string {
  if (!selector) return 'nil'
  const labels = Object.entries(selector.matchLabels ?? {})
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, value]) => `${key}: ${value},`)
  const expressions = (selector.matchExpressions ?? []).map(
    ({ key, operator, values = [] }) =>
      `LabelSelectorRequirement{Key:${key},Operator:${operator},Values:[${values.join(' ')}],},`,
  )
  const parts = [
    `MatchLabels:map[string]string{${labels.join('')}}`,
    `MatchExpressions:[]LabelSelectorRequirement{${expressions.join('')}}`,
  ]
  return `&LabelSelector{${parts.join(',')},}`
}
