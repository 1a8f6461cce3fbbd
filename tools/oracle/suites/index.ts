import type { Suite } from '../suite.ts'
import { applySuite } from './apply.ts'
import { quantitySuite } from './quantity.ts'
import { selectorSuite } from './selectors.ts'
import { strategicSuite } from './strategic.ts'
import { timeSuite } from './times.ts'
import { validationSuite } from './validation.ts'

/** Every suite. A new one is a file beside this one, a line here, and a file in `../go`. */
export const suites: readonly Suite[] = [
  applySuite,
  strategicSuite,
  quantitySuite,
  selectorSuite,
  timeSuite,
  validationSuite,
]
