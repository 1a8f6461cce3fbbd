import { encodeHex, encodeText, sha256 } from '@coxswain/kit'
import type { TraceEntry } from '../world/trace.ts'

/** A hash of everything that happened in a run, lines of source apart: those depend on where the operator's file is. */
export function hashTrace(trace: readonly TraceEntry[]): string {
  const text = JSON.stringify(trace, (key, value: unknown) => (key === 'line' ? undefined : value))
  return encodeHex(sha256(encodeText(text)))
}
