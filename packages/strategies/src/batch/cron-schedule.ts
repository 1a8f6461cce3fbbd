import { parseCronSchedule } from '@coxswain/apimachinery/cron'

/** Why a text is no schedule in the five-field notation of cron; undefined when it is one. */
export function scheduleProblem(text: string): string | undefined {
  const read = parseCronSchedule(text)
  return read.type === 'problem' ? read.problem : undefined
}
