import type { Kind } from '@coxswain/apimachinery/kinds'
import {
  type ApiObject,
  type Condition,
  type DeepReadonly,
  setStatusCondition,
} from '@coxswain/apimachinery/meta'
import type { Clock } from '@coxswain/kit'
import type { OperatorClient } from '../operator-client.ts'
import type { DependentPhase, DependentState, DependentsResult } from './dependent.ts'

const isDone: ReadonlySet<DependentPhase> = new Set(['Ready', 'Inactive', 'Absent'])

const phaseTexts: Readonly<Record<DependentPhase, string>> = {
  Ready: 'ready',
  NotReady: 'not ready',
  Waiting: 'waiting for what it depends on',
  Inactive: 'inactive',
  Deleting: 'being deleted',
  Absent: 'absent',
  Failed: 'failed',
}

const maxErrorText = 256
const maxMessage = 4_096

export function resultOf(states: ReadonlyMap<string, DependentState>): DependentsResult {
  return { ready: [...states.values()].every(({ phase }) => isDone.has(phase)), states }
}

/** Writes the condition that summarizes the dependents into the status of their owner, when it differs. */
export async function writeCondition(
  { client, clock }: { readonly client: OperatorClient; readonly clock: Clock },
  {
    kind,
    object,
    type,
  }: { readonly kind: Kind; readonly object: DeepReadonly<ApiObject>; readonly type: string },
  result: DependentsResult,
): Promise<void> {
  const { status } = object as { readonly status?: { readonly conditions?: readonly Condition[] } }
  const conditions = structuredClone(status?.conditions ?? []) as Condition[]
  const { generation: observedGeneration } = object.metadata
  const update = {
    type,
    ...describe(result),
    ...(observedGeneration !== undefined && { observedGeneration }),
  }
  if (!setStatusCondition(conditions, update, clock)) return
  const changed = { ...object, status: { ...status, conditions } }
  await client.patchFrom(kind, { old: object, new: changed }, { subresource: 'status', optimisticLock: true })
}

function describe({ ready, states }: DependentsResult): Pick<Condition, 'status' | 'reason' | 'message'> {
  if (ready) return { status: 'True', reason: 'DependentsReady', message: 'all dependents are ready' }
  const parts: string[] = []
  let hasFailed = false
  for (const [name, { phase, error }] of states) {
    if (isDone.has(phase)) continue
    if (phase === 'Failed') hasFailed = true
    const text = error instanceof Error ? `${phaseTexts[phase]}: ${error.message}` : phaseTexts[phase]
    parts.push(`${name}: ${text.slice(0, maxErrorText)}`)
  }
  const reason = hasFailed ? 'DependentsFailed' : 'DependentsNotReady'
  return { status: 'False', reason, message: parts.join('; ').slice(0, maxMessage) }
}
