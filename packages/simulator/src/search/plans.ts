import { createSeededRandom } from '@coxswain/kit'
import type { Fault } from '../fault.ts'
import type { Plan } from '../plan.ts'

/** Which part of the search a plan belongs to. */
export type SearchPhase = 'single' | 'pairs' | 'random'

/** A scenario, and the single faults of its undisturbed run. */
export interface SearchSpace {
  readonly plan: Plan
  readonly singles: readonly Fault[]
  /** Whether its single faults come before those of others. */
  readonly isTelling: boolean
}

export interface PlannedRun<S extends SearchSpace> {
  readonly phase: SearchPhase
  readonly space: S
  readonly plan: Plan
}

/** Plans that led to states which no earlier run had: the search continues from them. */
export interface Corpus<S extends SearchSpace> {
  readonly entries: readonly { readonly space: S; readonly faults: readonly Fault[] }[]
}

/** Faults in one plan of the random part. */
const mostFaults = 4

/**
 * All plans, without end, each once: every single fault, the scenarios in turn; then pairs in an order that the seed decides; then
 * plans that led somewhere new with another fault or another seed.
 */
export function* planRuns<S extends SearchSpace>(
  spaces: readonly S[],
  corpus: Corpus<S>,
  seed: number,
): Generator<PlannedRun<S>, void, undefined> {
  yield* singlesInTurn(spaces.filter(({ isTelling }) => isTelling))
  yield* singlesInTurn(spaces.filter(({ isTelling }) => !isTelling))
  const usable = spaces.filter(({ singles }) => singles.length > 0)
  if (usable.length === 0) return
  const random = createSeededRandom(seed)
  const pick = <T>(values: readonly T[]): T => values[random.below(values.length)]!
  const planned = new Set<string>()
  for (let round = 0, idle = 0; idle < 10_000; round++) {
    const isPair = round % 2 === 0 || corpus.entries.length === 0
    const origin = isPair ? { space: pick(usable), faults: [] } : pick(corpus.entries)
    const { space } = origin
    const faults = isPair
      ? [pick(space.singles), pick(space.singles)]
      : [...origin.faults, pick(space.singles)].slice(-mostFaults)
    const plan = {
      ...space.plan,
      faults,
      seed: isPair ? space.plan.seed : space.plan.seed + random.below(1_000),
    }
    const key = JSON.stringify(plan)
    if (planned.has(key)) {
      idle++
      continue
    }
    idle = 0
    planned.add(key)
    yield { phase: isPair ? 'pairs' : 'random', space, plan }
  }
}

/** The first fault of each scenario, then the second, ... */
function* singlesInTurn<S extends SearchSpace>(
  spaces: readonly S[],
): Generator<PlannedRun<S>, void, undefined> {
  for (let index = 0; spaces.some(({ singles }) => index < singles.length); index++)
    for (const space of spaces) {
      const fault = space.singles[index]
      if (fault) yield { phase: 'single', space, plan: { ...space.plan, faults: [fault] } }
    }
}
