import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { BenchDefinition } from '../harness.ts'

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
            return (await startServer(used, { cache })).ready
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

function startNode(): Promise<number> {
  const started = performance.now()
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, ['-e', '0'], { stdio: 'ignore' })
    child.on('error', reject)
    child.on('exit', () => resolve(performance.now() - started))
  })
}

interface StartOptions {
  /** Milliseconds between the ready line and the end. @default 0 */
  readonly idle?: number
  /** A folder for compiled code. @default the user's, as when the command is started by hand */
  readonly cache?: string
}

/** Starts the server, waits for its ready line and stops it again. */
async function startServer(
  folder: string,
  { idle = 0, cache }: StartOptions = {},
): Promise<{ ready: number; resident: number }> {
  const args = [
    command,
    'up',
    '--port',
    '0',
    '--data-dir',
    folder,
    '--kubeconfig',
    join(folder, 'kubeconfig'),
  ]
  const started = performance.now()
  const child = spawn(process.execPath, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...(cache !== undefined && { NODE_COMPILE_CACHE: cache }) },
  })
  const exited = new Promise<void>(resolve => child.on('exit', () => resolve()))
  let errors = ''
  child.stderr.setEncoding('utf8').on('data', chunk => {
    errors += chunk
  })
  try {
    await new Promise<void>((resolve, reject) => {
      let output = ''
      child.stdout.setEncoding('utf8').on('data', chunk => {
        output += chunk
        if (/https:\/\/\S+/.test(output)) resolve()
      })
      child.on('error', reject)
      child.on('exit', code =>
        reject(new Error(`coxswain up ended with code ${code} before it was ready\n${errors}`)),
      )
    })
    const ready = performance.now() - started
    await sleep(idle)
    return { ready, resident: await residentMegabytes(child.pid!) }
  } finally {
    child.kill('SIGTERM')
    await exited
  }
}

async function residentMegabytes(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) / 1_000
}
