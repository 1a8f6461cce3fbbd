import type { Fault } from '../fault.ts'
import { describeFault } from '../fault.ts'
import type { Finding } from '../oracles.ts'
import type { RunResult } from '../world/run.ts'
import { describeWrite, type TraceEntry } from '../world/trace.ts'

/** How many entries of the trace are shown around the first fault. */
const entriesAfter = 14
const entriesBefore = 4

/** A failed run in words: what was done, what went wrong at which write, what the operator then did, and what is wrong. */
export function explain(run: RunResult, findings: readonly Finding[]): string {
  const { faults } = run.plan
  return [
    ...findings.map(({ oracle, message }) => `${oracle}: ${message}`),
    '',
    ...(faults.length === 0
      ? ['Nothing went wrong in this run: it is undisturbed.']
      : faults.map(fault => `What went wrong: ${describeIn(run, fault)}.`)),
    '',
    'What happened:',
    ...describeTrace(run.trace),
    ...findings.flatMap(({ oracle, details }) =>
      details.length === 0
        ? []
        : ['', `What is wrong (${oracle}; - undisturbed, + this run):`, ...details.map(line => `  ${line}`)],
    ),
  ].join('\n')
}

function describeIn({ writes }: RunResult, fault: Fault): string {
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

function describeEntry(entry: TraceEntry): string {
  const time = `${(entry.time / 1000).toFixed(3).padStart(9)} s`
  switch (entry.entry) {
    case 'write': {
      const status = entry.status === undefined ? 'no response' : String(entry.status)
      const line = entry.line === undefined ? '' : `  ${entry.line}`
      return `  ${time}  write ${entry.number}: ${describeWrite(entry)}, ${status}${line}`
    }
    case 'fault':
      return `  ${time}  FAULT ${entry.text}`
    case 'action':
      return `  ${time}  user: ${entry.text}`
    case 'start':
      return `  ${time}  process ${entry.replica} starts`
    case 'stop':
      return `  ${time}  process ${entry.replica} is dead`
    case 'reconcile':
      return `  ${time}  reconcile of ${entry.key} by ${entry.controller} failed: ${entry.error ?? entry.result}`
  }
}
