import { compareSnapshots, formatDifferences, type Mask } from './state/compare.ts'
import type { CheckpointName, RunResult } from './world/run.ts'

/** The name of an oracle. */
export type OracleName =
  | 'same-end'
  | 'same-after-restart'
  | 'clean-deletion'
  | 'settles'
  | 'always'
  | 'scenario'
  | 'timers'

/** What each oracle says, for `--help` and the documentation. */
export const oracleTexts: Readonly<Record<OracleName, string>> = {
  'same-end': 'whatever went wrong, the state ends where it ends when nothing goes wrong',
  'same-after-restart': 'restarting the operator when it has settled changes nothing',
  'clean-deletion': 'deleting its objects leaves behind what it leaves behind when nothing goes wrong',
  settles: 'it comes to rest, and then writes nothing',
  always: 'the invariants of the author hold after every write',
  scenario: 'what users do succeeds',
  timers: 'nothing of the operator runs on after it has stopped',
}

/** The names of the oracles: what is checked of every run. */
export const oracleNames: readonly OracleName[] = Object.keys(oracleTexts) as OracleName[]

/** Something that an oracle found. */
export interface Finding {
  readonly oracle: OracleName
  readonly message: string
  /** The diff, line by line. */
  readonly details: readonly string[]
}

/** The undisturbed runs that others are compared with. */
export interface Baseline {
  readonly result: RunResult
  readonly masks: ReadonlyMap<CheckpointName, Mask>
}

const oracleOf: Readonly<Record<CheckpointName, OracleName>> = {
  end: 'same-end',
  restart: 'same-after-restart',
  deletion: 'clean-deletion',
}

const whenText: Readonly<Record<CheckpointName, string>> = {
  end: 'in the end',
  restart: 'after a restart of the operator',
  deletion: 'after the objects were deleted',
}

/** What is wrong with a run. */
export function judge(run: RunResult, baseline: Baseline, without: ReadonlySet<OracleName>): Finding[] {
  const findings: Finding[] = run.failures.map(({ oracle, message }) => ({ oracle, message, details: [] }))
  for (const checkpoint of run.checkpoints) {
    const usual = baseline.result.checkpoints.find(({ name }) => name === checkpoint.name)
    if (!usual) continue
    const mask = baseline.masks.get(checkpoint.name) ?? new Set()
    const differences = compareSnapshots(usual.state, checkpoint.state, mask)
    if (differences.length > 0)
      findings.push({
        oracle: oracleOf[checkpoint.name],
        message: `the state ${whenText[checkpoint.name]} is not that of an undisturbed run`,
        details: formatDifferences(differences),
      })
    if (checkpoint.idleWrites > usual.idleWrites + 1)
      findings.push({
        oracle: 'settles',
        message: `${whenText[checkpoint.name]} it keeps writing: ${checkpoint.idleWrites} writes in a minute`,
        details: [],
      })
  }
  return findings.filter(({ oracle }) => !without.has(oracle))
}

/** What is wrong with an undisturbed run by itself. */
export function judgeBaseline(run: RunResult, without: ReadonlySet<OracleName>): Finding[] {
  const findings: Finding[] = run.failures.map(({ oracle, message }) => ({ oracle, message, details: [] }))
  const [end, restart, deletion] = run.checkpoints
  if (end && end.idleWrites > 1)
    findings.push({
      oracle: 'settles',
      message: `it keeps writing although nothing happens: ${end.idleWrites} writes in a minute`,
      details: [],
    })
  if (end && restart) {
    const differences = compareSnapshots(end.state, restart.state, new Set())
    if (differences.length > 0)
      findings.push({
        oracle: 'same-after-restart',
        message: 'restarting the operator changes the state',
        details: formatDifferences(differences),
      })
  }
  const left = [...(deletion?.state.entries() ?? [])].filter(
    ([, fields]) => fields.has('.metadata.deletionTimestamp') || hasLostOwner(fields),
  )
  if (left.length > 0)
    findings.push({
      oracle: 'clean-deletion',
      message: 'objects are left behind ten minutes after their owners were deleted',
      details: left.map(([object]) => `+ ${object}`),
    })
  return findings.filter(({ oracle }) => !without.has(oracle))
}

function hasLostOwner(fields: ReadonlyMap<string, string>): boolean {
  return [...fields].some(
    ([path, value]) =>
      path.startsWith('.metadata.ownerReferences') && value.includes('[another or deleted object]'),
  )
}
