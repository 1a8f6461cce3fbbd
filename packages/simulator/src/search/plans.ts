import { createSeededRandom } from '@coxswain/kit'
import type { Fault } from '../fault.ts'
import type { Plan } from '../plan.ts'

/** Which part of the search a plan belongs to. */
export type SearchPhase = 'single' | 'pairs' | 'random'

export interface PlannedRun {
  readonly phase: SearchPhase
  readonly plan: Plan
}

/**
 * All plans, without end: every single fault, then pairs in an order that the seed decides, with other seeds for the world and so
 * other latencies and interleavings.
 */
export function* planRuns(singles: readonly Fault[], seed: number): Generator<PlannedRun, void, undefined> {
  for (const fault of singles) yield { phase: 'single', plan: { seed, faults: [fault] } }
  if (singles.length === 0) return
  const random = createSeededRandom(seed)
  const pick = () => singles[random.below(singles.length)]!
  for (let round = 1; ; round++) {
    for (let index = 0; index < singles.length; index++) {
      const pair = [pick(), pick()]
      yield { phase: 'pairs', plan: { seed, faults: pair } }
    }
    for (let index = 0; index < singles.length; index++) {
      const faults = Array.from({ length: 1 + random.below(3) }, pick)
      yield { phase: 'random', plan: { seed: seed + round, faults } }
    }
  }
}
