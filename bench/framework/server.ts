import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { readAccess } from '../apiserver/access.ts'
import type { Server } from '../apiserver/servers.ts'

const command = fileURLToPath(new URL('../../packages/coxswain/bin/coxswain.js', import.meta.url))

export interface MemoryServer extends Server {
  readonly kubeconfig: string
}

/** `coxswain up --storage memory --controllers none`, on the first core when there are several. */
export async function startMemoryServer(): Promise<MemoryServer> {
  await using stack = new AsyncDisposableStack()
  const folder = await mkdtemp(join(tmpdir(), 'coxswain-bench-'))
  stack.defer(() => rm(folder, { recursive: true, force: true }))
  const settings = ['--port', '0', '--data-dir', folder, '--storage', 'memory', '--controllers', 'none']
  const pinned = availableParallelism() > 1 ? ['taskset', '-c', '0'] : []
  const [head, ...rest] = [...pinned, process.execPath, command, 'up', ...settings]
  const started = performance.now()
  const child = spawn(head!, rest, { stdio: ['ignore', 'pipe', 'inherit'] })
  stack.defer(() => stop(child))
  const kubeconfig = await readKubeconfig(child)
  const startMilliseconds = performance.now() - started
  const access = await readAccess(kubeconfig)
  const running = stack.move()
  return {
    access,
    kubeconfig,
    pids: [child.pid!],
    startMilliseconds,
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  }
}

function readKubeconfig(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    createInterface(child.stdout!).on('line', line => {
      const path = /KUBECONFIG=(\S+)/.exec(line)?.[1]
      if (path !== undefined) resolve(path)
    })
    child.on('error', reject)
    child.on('exit', code => reject(new Error(`the server ended with code ${code} before it was ready`)))
  })
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exited = new Promise<void>(resolve => child.on('exit', () => resolve()))
  child.kill('SIGTERM')
  await exited
}
