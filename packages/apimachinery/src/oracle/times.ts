/** Our half of the comparison with upstream: not part of the package, used by its test and by `tools/oracle`. */
import { formatDuration, parseDuration } from '../time/duration.ts'
import { canonicalizeMicroTime, canonicalizeTime } from '../time/time.ts'

export interface TimeQuestion {
  readonly text: string
}

export function answerTime({ text }: TimeQuestion): unknown {
  return {
    time: attempt(() => canonicalizeTime(text)),
    micro: attempt(() => canonicalizeMicroTime(text)),
    duration: attempt(() => formatDuration(parseDuration(text))),
  }
}

function attempt(read: () => string | null): unknown {
  try {
    return { value: read() }
  } catch (error) {
    return { error: (error as Error).message }
  }
}
