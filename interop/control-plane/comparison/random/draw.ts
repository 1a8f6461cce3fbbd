import { createSeededRandom } from '@coxswain/kit'
import type { Masks } from '../snapshot.ts'
import type { Stage } from '../stage.ts'

/** One action. It is printed before it is done, and decided before either side is looked at. */
export interface Action {
  readonly say: string
  readonly run: (stage: Stage) => Promise<unknown>
}

/** What is done in one namespace, one after the other, each when everything has come to rest. */
export interface Sequence {
  readonly actions: readonly Action[]
  readonly masks?: Masks
  /** What lies outside of the namespace. */
  readonly cleanUp?: (stage: Stage) => Promise<unknown>
}

export type Family = (draw: Draw) => Sequence

/** Chance, from a seed. */
export interface Draw {
  /** A whole number below it. */
  below(bound: number): number
  chance(probability: number): boolean
  pick<T>(from: readonly T[]): T
}

export function createDraw(seed: number): Draw {
  const random = createSeededRandom(seed)
  // The first numbers of neighbours are alike.
  for (let skipped = 0; skipped < 20; skipped++) random.next()
  return {
    below: bound => random.below(bound),
    chance: probability => random.next() < probability,
    pick: from => from[random.below(from.length)]!,
  }
}

/** So many of the kinds of action, drawn one after the other. */
export function drawActions(
  draw: Draw,
  count: number,
  makers: readonly ((draw: Draw) => Action)[],
): Action[] {
  return Array.from({ length: count }, () => draw.pick(makers)(draw))
}
