import { newTooManyRequests } from '@coxswain/apimachinery/status'
import { type Filter, finallyDo } from '../request/filter.ts'
import { isLongRunning } from '../request/long-running.ts'

export interface InFlightLimits {
  /** Requests that only read, at one time. */
  readonly readOnly: number
  readonly mutating: number
}

/** Upstream's. */
export const defaultInFlightLimits: InFlightLimits = { readOnly: 400, mutating: 200 }

/** How many requests there are. */
export interface InFlight {
  /** The most at one time since the last call. */
  takePeak(kind: keyof InFlightLimits): number
}

const readVerbs = new Set(['get', 'list', 'watch'])

/** Seconds that a refused client is told to wait. */
const retryAfterSeconds = 1

/**
 * Refuses requests beyond the limit with a 429, before they cost anything. Administrators are always let in: they are
 * the ones who can help. Comes after authentication for that reason.
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
