import type { TraceContext } from '@coxswain/kit'
import { getHeader } from './headers.ts'
import type { WireHeaders } from './message.ts'

/** The trace that a request belongs to, as its sender says; undefined when it says nothing. */
export function traceContextOf(headers: WireHeaders): TraceContext | undefined {
  const traceparent = getHeader(headers, 'traceparent')
  if (traceparent === undefined) return undefined
  const tracestate = getHeader(headers, 'tracestate')
  return { traceparent, ...(tracestate !== undefined && { tracestate }) }
}
