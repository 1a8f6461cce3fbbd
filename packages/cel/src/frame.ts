import { EvalFault, type Value } from './values.ts'

/** The state of one evaluation. */
export class Frame {
  readonly slots: (Value | undefined)[]
  readonly limit: number
  cost = 0
  constructor(slots: (Value | undefined)[], limit: number) {
    this.slots = slots
    this.limit = limit
  }
}

/** One compiled expression. Adds what it costs to the frame; throws EvalFault. */
export type Step = (frame: Frame) => Value

export const costLimitMessage = 'operation cancelled: actual cost limit exceeded'

export function checkCost(frame: Frame): void {
  if (frame.cost > frame.limit) throw new EvalFault(costLimitMessage, true)
}

/** The fault in a caught exception if it may be absorbed; anything else is thrown again. */
export function absorbable(error: unknown): EvalFault {
  if (error instanceof EvalFault && !error.cancelled) return error
  throw error
}
