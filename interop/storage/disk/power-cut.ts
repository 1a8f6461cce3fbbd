import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createSeededRandom } from '@coxswain/kit'
import { type CrashState, crashStates, readRecording } from './recording.ts'
import { buildShim, shimEnvironment } from './shim.ts'
import { verifyAfterCrash } from './verify.ts'

/** Thousands of small databases are opened: in memory, where nothing waits for a disk. */
const fastFolder = '/dev/shm'

export interface PowerCutOptions {
  readonly seed: number
  /** Transactions of each of the four clients. */
  readonly rounds: number
  /** Seeded subsets of dropped writes before each sync. */
  readonly subsets: number
  /** At most so many states, spread evenly; all of them when there are fewer. */
  readonly states: number
  /** See CrashOptions. */
  readonly lyingDisk?: boolean
}

export interface PowerCutResult {
  readonly records: number
  readonly states: number
  readonly problems: readonly string[]
}

/** Records a workload, then opens the store in every state that a power cut could have left. */
export function cutPower(options: PowerCutOptions): PowerCutResult {
  const { seed, rounds, subsets, lyingDisk = false } = options
  const root = mkdtempSync(join(fastFolder, 'coxswain-power-'))
  try {
    const folder = join(root, 'store')
    mkdirSync(folder)
    const log = join(root, 'log')
    const program = fileURLToPath(new URL('./workload.ts', import.meta.url))
    const run = spawnSync(process.execPath, [program, folder, String(seed), String(rounds)], {
      env: shimEnvironment(buildShim(), { folder, log }),
      encoding: 'utf8',
    })
    if (run.status !== 0) throw new Error(`the workload failed: ${run.stderr}`)
    const records = readRecording(log)
    const all = () => crashStates(records, { random: createSeededRandom(seed), subsets, lyingDisk })
    let total = 0
    for (const _ of all()) total++
    const every = Math.max(1, total / options.states)
    const problems: string[] = []
    let states = 0
    let index = 0
    for (const state of all()) {
      if (index++ < states * every) continue
      states++
      problems.push(...examine(state, join(root, 'state')))
      if (problems.length > 20) break
    }
    return { records: records.length, states, problems }
  } finally {
    rmSync(root, { recursive: true, force: true })
  }
}

function examine(state: CrashState, directory: string): string[] {
  state.materialize(directory)
  return verifyAfterCrash(directory, state.acknowledged).map(problem => `${state.name}: ${problem}`)
}
