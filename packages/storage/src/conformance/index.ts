/**
 * The behaviour that all back ends share, as cases that need no test runner: `runConformanceCase` throws when one fails.
 * @module
 */
import { type ConformanceCase, type ConformanceTarget, Context, type StoreSettings } from './context.ts'
import { readCases } from './reads.ts'
import { watchLifecycleCases } from './watch-lifecycle.ts'
import { watchCases } from './watches.ts'
import { writeCases } from './writes.ts'

export type { ConformanceCase, ConformanceTarget, StoreSettings }

export const conformanceCases: readonly ConformanceCase[] = [
  ...readCases,
  ...writeCases,
  ...watchCases,
  ...watchLifecycleCases,
]

/** The cases that `target` has to pass. */
export function casesFor(target: ConformanceTarget): readonly ConformanceCase[] {
  return conformanceCases.filter(({ ownHistory }) => target.ownsHistory || !ownHistory)
}

let runs = 0

/** Opens a store, runs the case on keys of its own, and closes the store. */
export async function runConformanceCase(target: ConformanceTarget, which: ConformanceCase): Promise<void> {
  const store = await target.open(which.settings ?? {})
  const context = new Context(store, target, `/case-${++runs}/`)
  try {
    await which.run(context)
  } finally {
    await context.leave()
    await store.close()
  }
}
