import { newTooManyRequests } from '@coxswain/apimachinery/status'
import { type Filter, finallyDo } from '../request/filter.ts'
import { isLongRunning } from '../request/long-running.ts'

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
    return finallyDo(next, context, isRead ? leaveRead : leaveWrite)
  }
  return Object.assign(filter, { takePeak })
}
