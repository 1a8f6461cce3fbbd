import { spawn } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'

/** Milliseconds until a bare Node has started and ended. */
export function startNode(): Promise<number> {
  const started = performance.now()
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, ['-e', '0'], { stdio: 'ignore' })
    child.on('error', reject)
    child.on('exit', () => resolve(performance.now() - started))
  })
}

export interface StartOptions {
  /** Milliseconds between the ready line and the end. @default 0 */
  readonly idle?: number
  /** Added to the environment. */
  readonly env?: NodeJS.ProcessEnv
  /** What is done while the server runs. */
  readonly use?: () => Promise<void>
}

/** Starts a server, waits for its ready line and stops it again: milliseconds until ready, and megabytes that are resident at the end. */
export async function startServer(
  [program, ...args]: readonly [string, ...string[]],
  { idle = 0, env, use }: StartOptions = {},
): Promise<{ readonly ready: number; readonly resident: number }> {
  const started = performance.now()
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, ...env } })
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
    await use?.()
    await sleep(idle)
    return { ready, resident: await residentMegabytes(child.pid!) }
  } finally {
    child.kill('SIGTERM')
    await exited
  }
}

export async function residentMegabytes(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) / 1_000
}
