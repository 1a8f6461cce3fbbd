import { BoundedMap, type Clock, encodeText, sha256 } from '@coxswain/kit'
import type { TokenAnswer, TokenAuthenticator } from './authenticator.ts'

export interface TokenCacheOptions {
  readonly clock: Clock
  /** Milliseconds for which an answer is cached; 0 disables the cache. */
  readonly ttl: number
}

const limit = 16_384

/** Neither the token nor its length is kept. */
function keyOf(token: string, audiences: readonly string[]): string {
  const hash = sha256(encodeText(JSON.stringify([token, ...audiences])))
  return Array.from(hash, byte => String.fromCharCode(byte)).join('')
}

interface Entry {
  readonly answer: TokenAnswer
  readonly until: number
}

/**
 * Caches answers of an authenticator, positive and negative ones, for a while; failures are not cached, and
 * concurrent requests with one token share a call.
 */
export function cacheTokens(ask: TokenAuthenticator, { clock, ttl }: TokenCacheOptions): TokenAuthenticator {
  if (ttl <= 0) return ask
  const kept = new BoundedMap<string, Entry>(limit)
  const pending = new Map<string, Promise<TokenAnswer>>()

  function keep(key: string, answer: TokenAnswer): TokenAnswer {
    if (answer && 'error' in answer) return answer
    kept.set(key, { answer, until: clock.now() + ttl })
    return answer
  }

  return (token, question) => {
    const key = keyOf(token, question.audiences)
    const entry = kept.get(key)
    if (entry && clock.now() < entry.until) return entry.answer
    const running = pending.get(key)
    if (running) return running
    const answer = ask(token, question)
    if (!(answer instanceof Promise)) return keep(key, answer)
    const asking = answer
      .then(late => keep(key, late))
      .finally(() => {
        pending.delete(key)
      })
    pending.set(key, asking)
    return asking
  }
}
