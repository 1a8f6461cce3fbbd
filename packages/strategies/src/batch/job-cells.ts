import type { Job, JobSpec, JobStatus } from '@coxswain/api/batch/v1'
import { formatHumanDuration } from '@coxswain/apimachinery/time'
import type { Decoded } from '../decoded.ts'
import { ageCell, nameCell } from '../shared/cells.ts'
import { numberOf } from '../shared/reading.ts'
import { containerCells, selectorCell } from '../shared/workload-cells.ts'
import type { TableCells } from '../strategy.ts'

export function printJob(object: Decoded<Job>, now: number): TableCells {
  const spec = object.spec ?? {}
  const status = object.status ?? {}
  return {
    Name: nameCell(object),
    Status: jobState(object),
    Completions: completionsCell(spec, status),
    Duration: durationCell(status, now),
    Age: ageCell(object, now),
    ...containerCells(spec.template),
    Selector: selectorCell(spec.selector),
  }
}

function jobState(object: Decoded<Job>): string {
  const { conditions } = object.status ?? {}
  const has = (type: string) =>
    (conditions ?? []).some(condition => condition.type === type && condition.status === 'True')
  if (has('Complete')) return 'Complete'
  if (has('Failed')) return 'Failed'
  if (object.metadata.deletionTimestamp !== undefined) return 'Terminating'
  if (has('Suspended')) return 'Suspended'
  if (has('FailureTarget')) return 'FailureTarget'
  if (has('SuccessCriteriaMet')) return 'SuccessCriteriaMet'
  return 'Running'
}

function completionsCell(spec: Decoded<JobSpec>, status: Decoded<JobStatus>): string {
  const succeeded = numberOf(status.succeeded)
  if (spec.completions !== undefined) return `${succeeded}/${numberOf(spec.completions)}`
  const parallelism = numberOf(spec.parallelism)
  return parallelism > 1 ? `${succeeded}/1 of ${parallelism}` : `${succeeded}/1`
}

function durationCell(status: Decoded<JobStatus>, now: number): string {
  if (status.startTime === undefined) return ''
  const end = status.completionTime === undefined ? now : Date.parse(status.completionTime ?? '')
  return formatHumanDuration(end - Date.parse(status.startTime ?? ''))
}
