import type { WireResponse } from '@coxswain/wire'
import type { RequestContext } from './context.ts'

/**
 * A response, or the promise of one. Most reads are answered synchronously, and then no filter creates
 * a promise: measured in process (no sockets), that is half the cost of a get.
 */
export type Answer = WireResponse | Promise<WireResponse>

/** The rest of the chain: the next filter, or the route. Throws, or rejects, with an error that becomes a Status. */
export type Next = (context: RequestContext) => Answer

/** Inspects a request before passing it on, answers it itself, or changes the response. */
export type Filter = (context: RequestContext, next: Next) => Answer
