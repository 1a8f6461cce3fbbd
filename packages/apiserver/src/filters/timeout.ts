import { isMachineryError } from '@coxswain/apimachinery/errors'
import { newBadRequest, newTimeout } from '@coxswain/apimachinery/status'
import { durationToMilliseconds, parseDuration } from '@coxswain/apimachinery/time'
import type { Clock, Timer } from '@coxswain/kit'
import { discardBody, type WireResponse } from '@coxswain/wire'
import type { RequestContext } from '../request/context.ts'
import type { Filter } from '../request/filter.ts'
import { isLongRunning } from '../request/long-running.ts'

/** The default and maximum timeout of a request; a client may set a shorter one with `?timeout=`. */
const longest = 60_000
/** How often deadlines are checked: one timer for all requests instead of one each. */
const sweepInterval = 1000

interface Pending {
  readonly deadline: number
  readonly expire: () => void
}

/**
 * Answers a request that takes too long with a 504. Its handler continues, so a write may still happen: as
 * with every timeout, the client cannot know.
 */
export function createTimeout(clock: Clock): Filter {
  const pending = new Set<Pending>()
  let sweep: Timer | undefined

  function onSweep(): void {
    sweep = undefined
    const now = clock.monotonic()
    for (const request of pending) if (request.deadline <= now) request.expire()
    if (pending.size > 0) sweep = clock.after(sweepInterval, onSweep)
  }

  function forget(request: Pending): void {
    pending.delete(request)
    if (pending.size > 0) return
    sweep?.cancel()
    sweep = undefined
  }

  function limit(work: Promise<WireResponse>, ms: number): Promise<WireResponse> {
    return new Promise((resolve, reject) => {
      const request: Pending = {
        deadline: clock.monotonic() + ms,
        expire() {
          forget(request)
          reject(newTimeout('request did not complete within the allotted timeout', 0))
          work.then(({ body }) => discardBody(body)).catch(() => {}) // the client already has its response
        },
      }
      pending.add(request)
      sweep ??= clock.after(sweepInterval, onSweep)
      work.then(
        response => {
          forget(request)
          resolve(response)
        },
        error => {
          forget(request)
          reject(error)
        },
      )
    })
  }

  return (context, next) => {
    if (isLongRunning(context.info)) return next(context)
    const ms = readTimeout(context)
    const answer = next(context)
    return answer instanceof Promise ? limit(answer, ms) : answer
  }
}

/** Throws a 400 in upstream's words for an invalid duration. */
function readTimeout({ query }: RequestContext): number {
  const text = query.get('timeout') ?? ''
  if (text === '') return longest
  let ms: number
  try {
    ms = durationToMilliseconds(parseDuration(text))
  } catch (error) {
    if (!isMachineryError(error)) throw error
    throw newBadRequest(`invalid timeout specified in the request URL - ${error.message}`)
  }
  return ms > 0 ? Math.min(ms, longest) : longest
}
