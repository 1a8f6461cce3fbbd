import type { ApiObject } from '@coxswain/apimachinery/meta'
import type { Strategy } from './strategy.ts'

/**
 * The rules of a kind, written over its type, in the form that the server uses for all kinds. The cast is sound because
 * the server passes to a strategy only what it has decoded as the strategy's kind.
 */
export function defineStrategy<T extends ApiObject>(strategy: Strategy<T>): Strategy {
  return strategy as unknown as Strategy
}
