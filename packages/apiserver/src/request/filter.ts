import type { WireResponse } from '@coxswain/wire'
import type { RequestContext } from './context.ts'

/**
 * An answer, or the promise of one. Most reads are answered at once, and then no filter makes
 * a promise of it: measured in process (no sockets), that is half of what a get costs.
 */
export type Answer = WireResponse | Promise<WireResponse>

/** What comes after a filter: the next one, or the route. Throws, or rejects, with what becomes a Status. */
export type Next = (context: RequestContext) => Answer

/** Looks at a request before it goes on, answers it itself, or changes the answer on the way back. */
export type Filter = (context: RequestContext, next: Next) => Answer

/** What comes next, and `leave` once, when it has answered or failed. */
export function finallyDo(next: Next, context: RequestContext, leave: () => void): Answer {
  let answer: Answer
  try {
    answer = next(context)
  } catch (error) {
    leave()
    throw error
  }
  if (answer instanceof Promise) return answer.finally(leave)
  leave()
  return answer
}

/** One function of a list of filters, first to last, and the route behind them. */
export function compose(filters: readonly Filter[], route: Next): Next {
  return filters.reduceRight<Next>((next, filter) => context => filter(context, next), route)
}
