import type { WireResponse } from '@coxswain/wire'
import type { RequestContext } from '../request/context.ts'

/** What comes after a filter: the next one, or the route. */
export type Next = (context: RequestContext) => Promise<WireResponse>

/** Looks at a request before it goes on, answers it itself, or changes the answer on the way back. */
export type Filter = (context: RequestContext, next: Next) => Promise<WireResponse>

/** One function of a list of filters, first to last, and the route behind them. */
export function compose(filters: readonly Filter[], route: Next): Next {
  return filters.reduceRight<Next>((next, filter) => context => filter(context, next), route)
}
