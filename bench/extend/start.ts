import { spawn } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { BenchCase } from '../harness.ts'

const command = fileURLToPath(new URL('../../packages/coxswain/bin/coxswain.js', import.meta.url))

/** The generic control plane until it is ready, beside the full one. */
export async function startCases(_stack: AsyncDisposableStack): Promise<BenchCase[]> {
  const full = await measureStart('all')
  const generic = await measureStart('generic')
  if (!(full.ready > 0 && generic.ready > 0)) throw new Error('a control plane did not get ready')
  const caseOf = (name: string, unit: string, of: 'ready' | 'cpu' | 'resident'): BenchCase => ({
    name: `--kinds generic: ${name}`,
    unit,
    measure: async () => (await measureStart('generic'))[of],
    reference: { name: '--kinds all', measure: async () => (await measureStart('all'))[of] },
    goal: { of: 'ratio', atMost: of === 'resident' ? 1 : 0.6 },
  })
  return [
    caseOf('until it is ready', 'ms', 'ready'),
    caseOf('CPU until it is ready', 'ms', 'cpu'),
    caseOf('resident when it is ready', 'MB', 'resident'),
  ]
}

interface Start {
  readonly ready: number
  readonly cpu: number
  readonly resident: number
}

/** Starts a control plane in an empty folder, waits for its ready line, and stops it. */
async function measureStart(kinds: string): Promise<Start> {
  const folder = await mkdtemp(join(tmpdir(), 'coxswain-bench-'))
  const options = ['--port', '0', '--storage', 'memory', '--data-dir', folder, '--kinds', kinds]
  const started = performance.now()
  const child = spawn(process.execPath, [command, 'up', ...options], { stdio: ['ignore', 'pipe', 'inherit'] })
  const exited = new Promise<void>(resolve => child.on('exit', () => resolve()))
  try {
    await new Promise<void>((resolve, reject) => {
      child.stdout.once('data', () => resolve())
      child.once('exit', code => reject(new Error(`coxswain up ended with code ${code}`)))
    })
    const ready = performance.now() - started
    const [stat, status] = await Promise.all(
      ['stat', 'status'].map(file => readFile(`/proc/${child.pid}/${file}`, 'utf8')),
    )
    const ticks = stat!.slice(stat!.lastIndexOf(')') + 2).split(' ')
    return {
      ready,
      cpu: (Number(ticks[11]) + Number(ticks[12])) * 10,
      resident: Number(/^VmRSS:\s+(\d+) kB$/m.exec(status!)?.[1]) / 1_000,
    }
  } finally {
    child.kill('SIGTERM')
    await exited
    await rm(folder, { recursive: true, force: true })
  }
}
