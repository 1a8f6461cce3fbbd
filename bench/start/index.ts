import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { BenchDefinition } from '../harness.ts'
import { type StartOptions, startNode, startServer as startProcess } from './process.ts'

const command = fileURLToPath(new URL('../../packages/coxswain/bin/coxswain.js', import.meta.url))

/** After the ready line: long enough for what a start leaves behind to be collected. */
const idleTime = 2_000

export const bench: BenchDefinition = {
  title: 'start: `coxswain up` until it is ready, beside a bare `node -e 0`',
  rounds: 7,
  async cases(stack) {
    if (!existsSync(command)) throw new Error(`${command} does not exist: there is nothing to start yet`)
    const used = await mkdtemp(join(tmpdir(), 'coxswain-bench-'))
    stack.defer(() => rm(used, { recursive: true, force: true }))
    await startServer(used) // makes the certificates, and fills the caches if the sources have changed
    const bare = { name: 'node -e 0', measure: startNode }
    return [
      {
        name: 'ready on an existing data directory',
        unit: 'ms',
        measure: async () => (await startServer(used)).ready,
        reference: bare,
        goal: { of: 'ratio', atMost: 6 },
      },
      {
        name: 'ready on an empty data directory',
        unit: 'ms',
        measure: async () => {
          const fresh = await mkdtemp(join(tmpdir(), 'coxswain-bench-'))
          try {
            return (await startServer(fresh)).ready
          } finally {
            await rm(fresh, { recursive: true, force: true })
          }
        },
        reference: bare,
        goal: { of: 'ratio', atMost: 6 },
      },
      {
        // The very first start after an install or a change: nothing is compiled yet. No goal; reported so that the figure is known.
        name: 'ready with empty caches',
        unit: 'ms',
        measure: async () => {
          const cache = await mkdtemp(join(tmpdir(), 'coxswain-bench-'))
          try {
            return (await startServer(used, { env: { NODE_COMPILE_CACHE: cache } })).ready
          } finally {
            await rm(cache, { recursive: true, force: true })
          }
        },
        reference: bare,
      },
      {
        name: 'resident when idle',
        unit: 'MB',
        measure: async () => (await startServer(used, { idle: idleTime })).resident,
        goal: { of: 'value', atMost: 90 },
      },
    ]
  },
}

/** From source, with the data of a folder. */
function startServer(folder: string, options?: StartOptions): ReturnType<typeof startProcess> {
  const up = ['up', '--port', '0', '--data-dir', folder, '--kubeconfig', join(folder, 'kubeconfig')]
  return startProcess([process.execPath, command, ...up], options)
}
