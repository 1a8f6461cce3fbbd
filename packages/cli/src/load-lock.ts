import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type RecordedCall, readRecordedCalls } from '@coxswain/runtime'
import { CommandError } from './exit.ts'

/** What tests have recorded, where they have. */
export function readCalls(folder: string): RecordedCall[] {
  const path = join(folder, 'rbac.lock.json')
  if (!existsSync(path)) return []
  try {
    return readRecordedCalls(JSON.parse(readFileSync(path, 'utf8')))
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new CommandError(reason.startsWith('rbac.lock.json') ? reason : `${path}: ${reason}`, {
      cause: error,
    })
  }
}
