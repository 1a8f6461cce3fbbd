import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Client } from '@coxswain/client'
import { createClientFromKubeconfig } from '@coxswain/client/node'
import { createRealEnv } from '@coxswain/kit'

const command = fileURLToPath(new URL('../../../coxswain/bin/coxswain.js', import.meta.url))

/** A running command, and its output. */
export interface Running extends AsyncDisposable {
  readonly pid: number
  readonly output: () => { stdout: string; stderr: string }
  /** Resolves when its output matches. */
  prints(pattern: RegExp): Promise<RegExpExecArray>
  /** Sends a signal. */
  kill(signal: NodeJS.Signals): void
  /** Resolves with the exit code. */
  readonly exited: Promise<number | null>
  stop(signal?: NodeJS.Signals): Promise<number | null>
}

export interface Launched extends AsyncDisposable {
  readonly up: Running
  readonly upAgain: () => Running
  readonly client: Client
  readonly kubeconfig: string
  /** Writes a file beside the data directory. */
  readonly file: (name: string, content: string) => string
  readonly run: (...more: string[]) => Running
}

export function start(...args: string[]): Running {
  const child: ChildProcess = spawn(process.execPath, [command, ...args])
  let stdout = ''
  let stderr = ''
  const listeners = new Set<() => void>()
  const hear = () => {
    for (const listener of listeners) listener()
  }
  child.stdout!.on('data', chunk => {
    stdout += chunk
    hear()
  })
  child.stderr!.on('data', chunk => {
    stderr += chunk
    hear()
  })
  const exited = new Promise<number | null>(resolve => child.on('close', resolve))
  const stop = async (signal: NodeJS.Signals = 'SIGTERM') => {
    child.kill(signal)
    return await exited
  }
  return {
    pid: child.pid!,
    kill: signal => void child.kill(signal),
    exited,
    output: () => ({ stdout, stderr }),
    prints: pattern =>
      new Promise((resolve, reject) => {
        const look = () => {
          const found = pattern.exec(stdout + stderr)
          if (found) resolve(found)
          return found !== null
        }
        if (look()) return
        listeners.add(look)
        exited.then(code => look() || reject(new Error(`it ended with code ${code}\n${stdout}${stderr}`)))
      }),
    stop,
    [Symbol.asyncDispose]: async () => void (await stop('SIGKILL')),
  }
}

/** Starts `coxswain up` in a directory of its own. */
export async function launch(...args: string[]): Promise<Launched> {
  const directory = mkdtempSync(join(tmpdir(), 'coxswain-run-'))
  const kubeconfig = join(directory, 'kubeconfig')
  const up = (port: string) =>
    start('up', '--port', port, '--data-dir', join(directory, 'data'), '--kubeconfig', kubeconfig, ...args)
  const first = up('0')
  const [, port = ''] = await first.prints(/coxswain is ready at https:\/\/127\.0\.0\.1:(\d+)/)
  const connected = await createClientFromKubeconfig({ env: createRealEnv(), kubeconfig })
  const file = (name: string, content: string) => {
    const path = join(directory, name)
    writeFileSync(path, content)
    return path
  }
  return {
    up: first,
    upAgain: () => up(port),
    client: connected.client,
    kubeconfig,
    file,
    run: (...more: string[]) => start('run', '--kubeconfig', kubeconfig, ...more),
    async [Symbol.asyncDispose]() {
      await connected[Symbol.asyncDispose]()
      await first[Symbol.asyncDispose]()
      rmSync(directory, { recursive: true, force: true })
    },
  }
}
