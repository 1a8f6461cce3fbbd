import type { Result } from './task.ts'

/** Runs of one program, one a round: rows that tell different things about it share them. */
export class Rounds {
  readonly #run: () => Promise<Result>
  readonly #results: Promise<Result>[] = []

  constructor(run: () => Promise<Result>) {
    this.#run = run
  }

  /** What one row measures: its n-th call tells of the n-th run, which is made by whichever row asks first. */
  column(pick: (result: Result) => number): () => Promise<number> {
    let round = 0
    return async () => {
      const index = round++
      this.#results[index] ??= this.#run()
      return pick(await this.#results[index])
    }
  }
}
