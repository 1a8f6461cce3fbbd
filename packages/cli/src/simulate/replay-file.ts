import { readFileSync, writeFileSync } from 'node:fs'
import type { Failure, OracleName, Plan } from '@coxswain/simulator'
import { CommandError, explainSystemError } from '../exit.ts'

/** What replays a failure. */
export interface ReplayFile {
  readonly version: 1
  readonly operator: string
  readonly scenario?: string
  readonly plan: Plan
  readonly oracles: readonly OracleName[]
  /** Of the trace. */
  readonly hash: string
}

/** Writes the file to the current directory, and returns its name: `cnat-3f9c01ab.json`. */
export function writeReplay(operator: string, { plan, findings, hash }: Failure, scenario?: string): string {
  const file: ReplayFile = {
    version: 1,
    operator,
    ...(scenario !== undefined && { scenario }),
    plan,
    oracles: findings.map(({ oracle }) => oracle),
    hash,
  }
  const path = `${operator}-${hash.slice(0, 8)}.json`
  try {
    writeFileSync(path, `${JSON.stringify(file, null, 2)}\n`)
  } catch (cause) {
    throw new CommandError(`${path}: ${explainSystemError(cause)}`, { cause })
  }
  return path
}

export function readReplay(path: string): ReplayFile {
  let file: unknown
  try {
    file = JSON.parse(readFileSync(path, 'utf8'))
  } catch (cause) {
    throw new CommandError(`${path}: ${explainSystemError(cause)}`, { exitCode: 2, cause })
  }
  const { version, plan, hash } = (file ?? {}) as Partial<ReplayFile>
  const isReplay =
    version === 1 && typeof hash === 'string' && typeof plan?.seed === 'number' && Array.isArray(plan.faults)
  if (!isReplay)
    throw new CommandError(`${path}: is not a file that coxswain simulate has written`, { exitCode: 2 })
  return file as ReplayFile
}
