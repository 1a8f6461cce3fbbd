import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { BenchDefinition } from '../harness.ts'

const child = fileURLToPath(new URL('server-child.ts', import.meta.url))
const count = 500

interface Report {
  readonly ready: number
  readonly heap: number
  readonly bytes: number
}

async function start(directory: string, made = 0): Promise<Report> {
  const args = ['--expose-gc', child, directory, String(made)]
  const { stdout } = await promisify(execFile)(process.execPath, args, { maxBuffer: 2 ** 20 })
  return JSON.parse(stdout) as Report
}

export const bench: BenchDefinition = {
  title: `crds: a server with ${count} definitions of 20 KB, started again, beside an empty one`,
  async cases(stack) {
    const folder = await mkdtemp(join(tmpdir(), 'coxswain-bench-'))
    stack.defer(() => rm(folder, { recursive: true, force: true }))
    const full = join(folder, 'full')
    const empty = join(folder, 'empty')
    const { bytes } = await start(full, count)
    await start(empty)
    return [
      {
        name: `ready again with ${count} definitions`,
        unit: 'ms',
        measure: async () => (await start(full)).ready,
        reference: { name: 'an empty store', measure: async () => (await start(empty)).ready },
        goal: { of: 'ratio', atMost: 3 },
      },
      {
        name: 'memory of a definition beside its own bytes',
        unit: 'KB',
        measure: async () => {
          const [loaded, bare] = [await start(full), await start(empty)]
          return (loaded.heap - bare.heap - bytes) / count / 1024
        },
        goal: { of: 'value', atMost: 200 },
      },
    ]
  },
}
