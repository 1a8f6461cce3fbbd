import { parseCronSchedule } from '@coxswain/apimachinery/cron'

/** Why a text is not a valid cron schedule of five fields; undefined when it is. */
export function scheduleProblem(text: string): string | undefined {
  const read = parseCronSchedule(text)
  return read.type === 'problem' ? read.problem : undefined
}
