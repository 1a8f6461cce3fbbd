import { spawn } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { goEnvironment } from '../../tools/components/go-program.ts'
import { cacheFolder } from '../../tools/components/index.ts'
import { runOrFail } from '../../tools/components/process.ts'
import { isPinned } from '../apiserver/servers.ts'
import type { Result } from './task.ts'

/** A program that does a task and prints a {@link Result}. */
export interface Program {
  readonly name: string
  readonly command: readonly string[]
}

/** A file beside this one, run by Node. */
export function nodeProgram(name: string, file: string, ...args: readonly string[]): Program {
  const path = fileURLToPath(new URL(file, import.meta.url))
  return { name, command: [process.execPath, '--expose-gc', path, ...args] }
}

const goTarget = join(cacheFolder, 'bin', 'bench-framework')

export const ours: Program = nodeProgram('ours', './ours.ts')
export const clientNode: Program = nodeProgram('client-node', './client-node.ts')
export const startsCluster: Program = nodeProgram('startCluster', './starts-cluster.ts')
export const goProgram: Program = { name: 'go', command: [goTarget] }

/** Quick when nothing has changed: Go keeps what it has built. */
export async function buildGoProgram(): Promise<void> {
  mkdirSync(join(cacheFolder, 'bin'), { recursive: true })
  const cwd = fileURLToPath(new URL('./go', import.meta.url))
  await runOrFail('go', ['build', '-o', goTarget, '.'], { cwd, env: goEnvironment() })
}

interface RunOptions {
  readonly kubeconfig?: string
  /** Called when the program says that it is ready, just after the signal to begin was sent. */
  readonly whenReady?: () => Promise<void>
}

/** With more than one core, programs have the second: the server has the first. */
export async function runProgram(
  program: Program,
  args: readonly string[],
  options: RunOptions = {},
): Promise<Result> {
  const [head, ...rest] = [...(isPinned ? ['taskset', '-c', '1'] : []), ...program.command, ...args]
  const child = spawn(head!, rest, {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...process.env, ...(options.kubeconfig !== undefined && { KUBECONFIG: options.kubeconfig }) },
  })
  const exited = new Promise<number | null>((resolve, reject) => {
    child.on('exit', resolve)
    child.on('error', reject)
  })
  let result: Result | undefined
  let work: Promise<void> | undefined
  createInterface(child.stdout).on('line', line => {
    const said = JSON.parse(line) as Result & { readonly ready?: boolean }
    if (!said.ready) {
      result = said
      return
    }
    child.stdin.write('\n')
    work = options.whenReady?.()
    work?.catch(() => child.kill())
  })
  const code = await exited
  await work
  if (code !== 0 || !result) throw new Error(`${program.name} ${args.join(' ')} ended with code ${code}`)
  return result
}
