import type { Random } from '@coxswain/kit'

/** Questions that upstream's own Go packages answer, and we too. */
export interface Suite<Question = unknown> {
  readonly name: string
  /** The sub-command of `go/` that answers. */
  readonly command: string
  /** Where the recorded answers are, from the root of the repository. */
  readonly fixture: string
  /** How many questions are recorded. */
  readonly count: number
  /** The same questions for the same numbers. */
  readonly generate: (random: Random, count: number) => Question[]
  /** Our answer, of the form that the sub-command prints. */
  readonly answer: (question: Question) => unknown
  /** Whether our answer is right, where upstream's has another form than ours. @default both are equal */
  readonly isSame?: (ours: unknown, upstream: unknown) => boolean
}

/** What a fixture holds, as gzipped JSON. */
export interface Recording<Question = unknown> {
  readonly suite: string
  readonly upstream: string
  readonly seed: number
  readonly cases: readonly { readonly question: Question; readonly answer: unknown }[]
}

export function defineSuite<Question>(suite: Suite<Question>): Suite {
  return suite as Suite
}

/** One of the list. */
export function pick<T>(random: Random, list: readonly T[]): T {
  return list[random.below(list.length)]!
}

/** True in `percent` of 100 cases. */
export function chance(random: Random, percent: number): boolean {
  return random.below(100) < percent
}
