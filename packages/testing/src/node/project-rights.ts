import { createHash } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type RecordedCall, readRecordedCalls } from '@coxswain/runtime'
import { authorLine, captureStack } from '../internal/author-frame.ts'
import type { ProjectRights } from '../rights/cluster-rights.ts'
import type { Recording } from '../rights/recording.ts'

/** Set by `coxswain rights`: the folder where clusters leave what operators called. */
const recordingsVariable = 'COXSWAIN_RIGHTS'

/**
 * The project of the source file that calls this function, or that of the working directory, if rights are recorded or it has an
 * `rbac.lock.json`; undefined otherwise.
 */
export function findProjectRights(): ProjectRights | undefined {
  const from = authorLine(captureStack())?.file
  const root = findRoot(from === undefined ? process.cwd() : dirname(from))
  if (root === undefined) return undefined
  if (process.env[recordingsVariable]) return { root, locked: undefined, records: true }
  const file = join(root, 'rbac.lock.json')
  return existsSync(file) ? { root, locked: readLock(file), records: false } : undefined
}

function findRoot(folder: string): string | undefined {
  for (let at = folder; ; at = dirname(at)) {
    if (existsSync(join(at, 'package.json'))) return at
    if (at === dirname(at)) return undefined
  }
}

function readLock(file: string): RecordedCall[] {
  try {
    return readRecordedCalls(JSON.parse(readFileSync(file, 'utf8')))
  } catch (error) {
    throw new Error(`${file}: ${error instanceof Error ? error.message : String(error)}`, { cause: error })
  }
}

/** Leaves a recording where `coxswain rights` finds it; equal ones are one file. */
export function saveRecording(recording: Recording): void {
  const folder = process.env[recordingsVariable]
  if (!folder) return
  const text = JSON.stringify(recording)
  writeFileSync(join(folder, `${createHash('sha256').update(text).digest('hex')}.json`), text)
}
