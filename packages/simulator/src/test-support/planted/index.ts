import { crashBugs } from './crashes.ts'
import type { PlantedBug } from './database.ts'
import { errorBugs } from './errors.ts'
import { leakBugs } from './leaks.ts'
import { outsideBugs } from './outside.ts'
import { transitionBugs } from './transitions.ts'

/** Operators with a bug each, by class, and their right twins. All are found by the automatic scenarios. */
export const plantedBugs: readonly PlantedBug[] = [
  ...crashBugs,
  ...errorBugs,
  ...transitionBugs,
  ...leakBugs,
  ...outsideBugs,
]
