import type { TraceContext } from '@coxswain/kit'
import { getHeader } from './headers.ts'
import type { WireHeaders } from './message.ts'

/** Version, trace, span and flags; later versions may have more parts. */
const wellFormed = /^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}(?:-[\x21-\x7e]*)?$/
const longestTraceparent = 256
/** The length that W3C Trace Context requires vendors to propagate; a longer one may be dropped. */
const longestTracestate = 512

/**
 * The trace that a request belongs to, as its sender says; undefined when it says nothing, or nothing well-formed. It is short, since it
 * is passed on: a client must not make calls to webhooks fail by their headers.
 */
export function traceContextOf(headers: WireHeaders): TraceContext | undefined {
  const traceparent = getHeader(headers, 'traceparent')
  if (traceparent === undefined || traceparent.length > longestTraceparent) return undefined
  if (!wellFormed.test(traceparent)) return undefined
  const tracestate = getHeader(headers, 'tracestate')
  const isPassedOn = tracestate !== undefined && tracestate.length <= longestTracestate
  return { traceparent, ...(isPassedOn && { tracestate }) }
}
