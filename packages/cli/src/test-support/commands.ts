import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Client } from '@coxswain/client'
import { createClientFromKubeconfig } from '@coxswain/client/node'
import { createRealEnv } from '@coxswain/kit'
import type { Transport } from '@coxswain/wire'

const command = fileURLToPath(new URL('../../../coxswain/bin/coxswain.js', import.meta.url))

/** A net for what is never printed, in milliseconds. */
const printLimit = 120_000

/** A command that runs, and what it has printed. */
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
  readonly transport: Transport
  readonly kubeconfig: string
  /** Writes a file beside the data directory. */
  readonly file: (name: string, content: string) => string
  readonly run: (...more: string[]) => Running
}

/** Starts the command here. */
export const start = (...args: string[]): Running => startIn(process.cwd(), ...args)

/** Starts the command in a folder. */
export function startIn(cwd: string, ...args: string[]): Running {
  const child: ChildProcess = spawn(process.execPath, [command, ...args], { cwd })
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
        const late = setTimeout(
          () => reject(new Error(`it has not printed ${pattern}\n${stdout}${stderr}`)),
          printLimit,
        )
        late.unref()
        exited.then(code => look() || reject(new Error(`it ended with code ${code}\n${stdout}${stderr}`)))
      }),
    stop,
    [Symbol.asyncDispose]: async () => void (await stop('SIGKILL')),
  }
}

/** A folder that is removed when the test ends. */
export interface Scratch extends Disposable {
  readonly path: string
  /** Writes a file. */
  readonly file: (name: string, content: string) => string
}

export function scratch(): Scratch {
  const path = mkdtempSync(join(tmpdir(), 'coxswain-run-'))
  return {
    path,
    file: (name, content) => {
      writeFileSync(join(path, name), content)
      return join(path, name)
    },
    [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }),
  }
}

/** Starts `coxswain up` in a directory of its own. */
export async function launch(...args: string[]): Promise<Launched> {
  const directory = scratch()
  const kubeconfig = join(directory.path, 'kubeconfig')
  const up = (port: string) =>
    start(
      'up',
      '--port',
      port,
      '--data-dir',
      join(directory.path, 'data'),
      '--kubeconfig',
      kubeconfig,
      ...args,
    )
  const first = up('0')
  const [, port = ''] = await first.prints(/coxswain is ready at https:\/\/127\.0\.0\.1:(\d+)/)
  const connected = await createClientFromKubeconfig({ env: createRealEnv(), kubeconfig })
  return {
    up: first,
    upAgain: () => up(port),
    client: connected.client,
    transport: connected.transport,
    kubeconfig,
    file: directory.file,
    run: (...more: string[]) => start('run', '--kubeconfig', kubeconfig, ...more),
    async [Symbol.asyncDispose]() {
      await connected[Symbol.asyncDispose]()
      await first[Symbol.asyncDispose]()
      directory[Symbol.dispose]()
    },
  }
}
