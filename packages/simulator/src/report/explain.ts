import type { Fault } from '../fault.ts'
import { describeFault } from '../fault.ts'
import type { Finding } from '../oracles.ts'
import { describeAction } from '../scenario/action.ts'
import type { RunResult } from '../world/run.ts'
import { describeWrite, type TraceEntry } from '../world/trace.ts'

/** How many entries of the trace are shown around the first fault. */
const entriesAfter = 14
const entriesBefore = 4

/** A failed run in words: what was done, what went wrong at which write, what the operator then did, and what is wrong. */
export function explain(
  run: Pick<RunResult, 'plan' | 'trace' | 'writes'>,
  findings: readonly Finding[],
): string {
  const { faults, actions = [], replicas = 1 } = run.plan
  return [
    ...findings.map(({ oracle, message }) => `${oracle}: ${message}`),
    '',
    ...(actions.length === 0
      ? []
      : ['What was done:', ...actions.map(each => `  ${describeAction(each)}`), '']),
    ...(replicas > 1 ? [`The operator had ${replicas} replicas.`] : []),
    ...(faults.length === 0
      ? ['Nothing went wrong in this run: it is undisturbed.']
      : faults.map(fault => `What went wrong: ${describeIn(run, fault)}.`)),
    '',
    'What happened:',
    ...describeTrace(run.trace),
    ...findings.flatMap(({ oracle, details }) =>
      details.length === 0
        ? []
        : ['', `What is wrong (${oracle}; - expected, + this run):`, ...details.map(line => `  ${line}`)],
    ),
  ].join('\n')
}

function describeIn({ writes }: Pick<RunResult, 'writes'>, fault: Fault): string {
  return describeFault(fault, number => {
    const write = writes[number - 1]
    if (!write) return `write ${number}`
    return `write ${number} (${describeWrite(write)}${write.line === undefined ? '' : `, ${write.line}`})`
  })
}

function describeTrace(trace: readonly TraceEntry[]): string[] {
  const shownEntries = trace.filter(
    entry => entry.entry !== 'reconcile' || entry.result === 'error' || entry.result === 'terminal',
  )
  const first = shownEntries.findIndex(({ entry }) => entry === 'fault')
  const from = Math.max(0, first < 0 ? 0 : first - entriesBefore)
  const shown = shownEntries.slice(from, from + entriesBefore + entriesAfter)
  const lines = shown.map(describeEntry)
  if (from > 0) lines.unshift(`  ${from} earlier entries`)
  const rest = shownEntries.length - from - shown.length
  if (rest > 0) lines.push(`  ${rest} later entries`)
  return lines
}

/** An entry of the trace as a line. */
export function describeEntry(entry: TraceEntry): string {
  const time = `${(entry.time / 1000).toFixed(3).padStart(9)} s`
  switch (entry.entry) {
    case 'write': {
      const status = entry.status === undefined ? 'no response' : String(entry.status)
      const line = entry.line === undefined ? '' : `  ${entry.line}`
      return `  ${time}  write ${entry.number}: ${describeWrite(entry)}, ${status}${line}`
    }
    case 'fault':
      return `  ${time}  FAULT ${entry.text}`
    case 'late':
      return `  ${time}  arrives late: ${entry.text}`
    case 'service':
      return `  ${time}  outside: ${entry.text}`
    case 'action':
      return `  ${time}  user: ${entry.text}`
    case 'start':
      return `  ${time}  process ${entry.replica} starts`
    case 'stop':
      return `  ${time}  process ${entry.replica} is dead`
    case 'reconcile':
      return entry.error === undefined
        ? `  ${time}  reconcile of ${entry.key} by ${entry.controller}: ${entry.result}`
        : `  ${time}  reconcile of ${entry.key} by ${entry.controller} failed: ${entry.error}`
  }
}
