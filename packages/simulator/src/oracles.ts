import { changesEnd } from './fault.ts'
import type { OracleName } from './oracle-names.ts'
import { compareSnapshots, formatDifferences, type Mask } from './state/compare.ts'
import type { Snapshot } from './state/snapshot.ts'
import type { CheckpointName, RunResult } from './world/run.ts'

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
  if (run.plan.faults.some(changesEnd)) return judgeAlone(run, without)
  const findings = failuresOf(run)
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
    if (checkpoint.outdated.length > usual.outdated.length)
      findings.push(outdatedFinding(checkpoint.outdated))
  }
  return findings.filter(({ oracle }) => !without.has(oracle))
}

const failuresOf = (run: RunResult): Finding[] =>
  run.failures.map(({ oracle, message }) => ({ oracle, message, details: [] }))

const outdatedFinding = (details: readonly string[]): Finding => ({
  oracle: 'observed-generation',
  message: 'the status does not catch up with the spec',
  details,
})

/** What is wrong with a run by itself: one without faults, or with faults that change where it ends. */
export function judgeAlone(run: RunResult, without: ReadonlySet<OracleName>): Finding[] {
  const findings = failuresOf(run)
  const [end, restart, deletion] = run.checkpoints
  if (end && end.idleWrites > 1)
    findings.push({
      oracle: 'settles',
      message: `it keeps writing although nothing happens: ${end.idleWrites} writes in a minute`,
      details: [],
    })
  if (end && end.outdated.length > 0) findings.push(outdatedFinding(end.outdated))
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
  const created = run.plan.faults.length > 0 ? [] : (deletion?.written ?? []).filter(isLeftover)
  if (created.length > 0)
    findings.push({
      oracle: 'nothing-left',
      message: 'objects that the operator created are still there after all of its own objects were deleted',
      details: created.map(object => `+ ${object}`),
    })
  return findings.filter(({ oracle }) => !without.has(oracle))
}

/** Volumes are kept on purpose; what is outside is compared with the undisturbed run only. */
function isLeftover(object: string): boolean {
  return !/^(?:namespaces|persistentvolumes|persistentvolumeclaims) /.test(object)
}

/** Whether a way through several specs ends where the last one alone ends. */
export function judgeDetour(
  detour: RunResult,
  direct: RunResult,
  without: ReadonlySet<OracleName>,
): Finding[] {
  const [end] = detour.checkpoints
  const [expected] = direct.checkpoints
  if (!end || !expected || without.has('same-as-direct')) return []
  if (hasCompleted(detour) || hasCompleted(direct)) return []
  const differences = compareSnapshots(withoutHistory(expected.state), withoutHistory(end.state), new Set())
  if (differences.length === 0) return []
  return [
    {
      oracle: 'same-as-direct',
      message:
        'after several changes the state is not that of an object which was created with the last spec',
      details: formatDifferences(differences),
    },
  ]
}

/** What counts changes, or is about the past. */
const history =
  /observedGeneration|\.status\.conditions|restartCount|deployment\.kubernetes\.io\/revision|[rR]evision/

function withoutHistory(state: Snapshot): Snapshot {
  return new Map(
    [...state].map(([key, fields]) => [key, new Map([...fields].filter(([path]) => !history.test(path)))]),
  )
}

/** Whether an object of the run reports that it is done. */
export function hasCompleted({ checkpoints: [end] }: RunResult): boolean {
  return end !== undefined && [...end.state.values()].some(isComplete)
}

/** Whether an object reports that it is done, so that it does not follow later changes. */
function isComplete(fields: ReadonlyMap<string, string>): boolean {
  const phase = fields.get('.status.phase') ?? fields.get('.status.state') ?? ''
  if (/^"(?:done|succeeded|complete|completed|finished|failed)"$/i.test(phase)) return true
  return fields.has('.status.completionTime')
}

function hasLostOwner(fields: ReadonlyMap<string, string>): boolean {
  return [...fields].some(
    ([path, value]) =>
      path.startsWith('.metadata.ownerReferences') && value.includes('[another or deleted object]'),
  )
}
