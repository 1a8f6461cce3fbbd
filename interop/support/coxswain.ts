import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root: string = fileURLToPath(new URL('../..', import.meta.url))
const command = join(root, 'packages/coxswain/bin/coxswain.js')

/** A `coxswain up` of its own, in a directory of its own. */
export interface RunningServer extends AsyncDisposable {
  readonly url: string
  readonly kubeconfig: string
  readonly pid: number
  /** SIGKILL: nothing is flushed. */
  kill(): Promise<void>
  /** The same command again on the same data and port. */
  restart(): Promise<void>
}

const readyLine = /^coxswain is ready at (https:\/\/\S+:(\d+)), run: export KUBECONFIG=(.+)$/m

export async function startServer(...options: string[]): Promise<RunningServer> {
  const directory = mkdtempSync(join(tmpdir(), 'coxswain-'))
  let child: ChildProcess
  let url = ''
  let port = '0'
  let kubeconfig = ''

  const start = async () => {
    child = spawn(process.execPath, [command, 'up', '--port', port, '--data-dir', directory, ...options], {
      cwd: root,
    })
    const output = await firstLine(child)
    tellWhenItEnds(child)
    const match = readyLine.exec(output)
    if (!match) throw new Error(`coxswain up did not get ready: ${output}`)
    ;[, url = '', port = '', kubeconfig = ''] = match
  }
  await start()
  return {
    get url() {
      return url
    },
    get kubeconfig() {
      return kubeconfig
    },
    get pid() {
      return child.pid!
    },
    async kill() {
      await stop(child, 'SIGKILL')
    },
    restart: start,
    async [Symbol.asyncDispose]() {
      await stop(child, 'SIGTERM')
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

/** What a command prints on standard output before the first line break; on failure, what it printed on standard error. */
function firstLine(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let output = ''
    let errors = ''
    child.stdout!.on('data', chunk => {
      output += chunk
      if (output.includes('\n')) resolve(output)
    })
    child.stderr!.on('data', chunk => {
      errors += chunk
    })
    child.on('exit', code => reject(new Error(`exit code ${code}: ${errors}`)))
    child.on('error', reject)
  })
}

/** Those that are stopping. */
const stopped = new WeakSet<ChildProcess>()

/** A server that ends by itself fails whatever is tested: its last words say why. */
function tellWhenItEnds(child: ChildProcess): void {
  let last = ''
  child.stderr!.on('data', chunk => {
    last = (last + chunk).slice(-4_000)
  })
  child.on('exit', (code, signal) => {
    if (!stopped.has(child)) console.error(`coxswain up has ended, ${signal ?? `code ${code}`}: ${last}`)
  })
}

async function stop(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  stopped.add(child)
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = new Promise(resolve => child.once('exit', resolve))
  child.kill(signal)
  await ended
}

export interface Outcome {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** Runs a program to its end. */
export function execute(
  file: string,
  args: readonly string[],
  environment: Record<string, string> = {},
  input?: string,
): Promise<Outcome> {
  return new Promise((resolve, reject) => {
    const child = spawn(file, args, { cwd: root, env: { ...process.env, ...environment } })
    let stdout = ''
    let stderr = ''
    child.stdout.on('data', chunk => {
      stdout += chunk
    })
    child.stderr.on('data', chunk => {
      stderr += chunk
    })
    child.on('error', reject)
    child.on('close', code => resolve({ code: code ?? -1, stdout, stderr }))
    if (input !== undefined) child.stdin.end(input)
  })
}

export function coxswain(...args: string[]): Promise<Outcome> {
  return execute(process.execPath, [command, ...args])
}
