import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { type FileResult, runFile } from './run-file.ts'
import type { Tally } from './tally.ts'

export interface RunFilesOptions {
  readonly root: string
  readonly files: readonly string[]
  readonly tally: Tally
  readonly env?: NodeJS.ProcessEnv
  /** Test files at a time. @default 2 */
  readonly concurrency?: number
  /** For one file, in milliseconds. @default 300000 */
  readonly timeout?: number
}

/** Runs test files side by side and prints each failure when its file ends, then the slowest files. */
export async function runFiles(options: RunFilesOptions): Promise<readonly FileResult[]> {
  const { root, files, tally, env, concurrency = 2, timeout = 300_000 } = options
  const scratch = await mkdtemp(join(tmpdir(), 'coxswain-test-'))
  const results: FileResult[] = []
  const queue = files.values()
  const work = async () => {
    for (const file of queue) {
      const result = await runFile(file, { scratch, timeout, ...(env ? { env } : {}) })
      results.push(result)
      tally.pass(result.passed)
      for (const { name, message } of result.failures) tally.fail(`${relative(root, file)}: ${name}`, message)
    }
  }
  try {
    await Promise.all(Array.from({ length: concurrency }, work))
  } finally {
    await rm(scratch, { recursive: true, force: true })
  }
  const slow = results.toSorted((a, b) => b.ms - a.ms).filter(result => result.ms > 5_000)
  for (const { file, ms } of slow.slice(0, 5)) {
    tally.note(`${relative(root, file)} took ${(ms / 1000).toFixed(1)} s`)
  }
  return results
}
