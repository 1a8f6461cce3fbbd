import { isMachineryError } from '@coxswain/apimachinery/errors'
import { newBadRequest, newTimeout, newTooManyRequests } from '@coxswain/apimachinery/status'
import { durationToMilliseconds, parseDuration } from '@coxswain/apimachinery/time'
import type { Clock, Timer } from '@coxswain/kit'
import { discardBody, type WireResponse } from '@coxswain/wire'
import { anonymous } from '../authentication/authenticator.ts'
import type { RequestContext } from '../request/context.ts'
import type { Answer, Filter } from '../request/filter.ts'
import { isLongRunning } from '../request/long-running.ts'

/**
 * Closes an HTTP/2 connection after the first request of an unauthenticated client: such a connection costs the server more
 * than it costs the client (CVE-2023-44487). Stands outside the filter that answers errors, so that it sees rejected
 * requests too.
 */
export const limitUnauthenticated: Filter = (context, next) => {
  const answer = next(context)
  if (context.request.headers[':method'] === undefined) return answer
  return answer instanceof Promise
    ? answer.then(response => closeUnauthenticated(context, response))
    : closeUnauthenticated(context, answer)
}

function closeUnauthenticated({ user, impersonation }: RequestContext, response: WireResponse): WireResponse {
  const isUnauthenticated = user.name === anonymous.name && !impersonation
  return isUnauthenticated ? { ...response, headers: { ...response.headers, connection: 'close' } } : response
}

export interface InFlightLimits {
  /** The maximum number of concurrent read-only requests. */
  readonly readOnly: number
  readonly mutating: number
}

/** Upstream's defaults. */
export const defaultInFlightLimits: InFlightLimits = { readOnly: 400, mutating: 200 }

/** How many requests are in flight. */
export interface InFlight {
  /** The maximum since the last call. */
  takePeak(kind: keyof InFlightLimits): number
}

const readVerbs = new Set(['get', 'list', 'watch'])

/** Retry-After of rejected requests, in seconds. */
const retryAfterSeconds = 1

/**
 * Rejects requests over the limit with a 429, before they cost anything. Administrators are exempt: they can
 * fix the problem. That is why it comes after authentication.
 */
export function createInFlightLimit(limits: InFlightLimits = defaultInFlightLimits): Filter & InFlight {
  let reading = 0
  let mutating = 0
  const peaks = { readOnly: 0, mutating: 0 }
  const takePeak = (kind: keyof InFlightLimits) => {
    const peak = peaks[kind]
    peaks[kind] = kind === 'readOnly' ? reading : mutating
    return peak
  }
  const leaveRead = () => {
    reading--
  }
  const leaveWrite = () => {
    mutating--
  }
  const filter: Filter = (context, next) => {
    if (isLongRunning(context.info)) return next(context)
    const isRead = readVerbs.has(context.info.verb)
    const isFull = isRead ? reading >= limits.readOnly : mutating >= limits.mutating
    if (isFull && !context.user.groups.includes('system:masters')) {
      throw newTooManyRequests('Too many requests, please try again later.', retryAfterSeconds)
    }
    if (isRead) peaks.readOnly = Math.max(peaks.readOnly, ++reading)
    else peaks.mutating = Math.max(peaks.mutating, ++mutating)
    const leave = isRead ? leaveRead : leaveWrite
    let answer: Answer
    try {
      answer = next(context)
    } catch (error) {
      leave()
      throw error
    }
    if (answer instanceof Promise) answer.then(leave, leave)
    else leave()
    return answer
  }
  return Object.assign(filter, { takePeak })
}

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
