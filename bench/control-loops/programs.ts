import { type ChildProcess, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { startControllerManager, startScheduler } from '../../interop/control-plane/components.ts'

/** Our programs of `ours.ts`, in a process of their own. Resolves when they have been started. */
export async function startOurs(
  kubeconfig: string,
  program: 'loops' | 'scheduler' | 'nodes',
  count: number = 1,
): Promise<AsyncDisposable> {
  const file = fileURLToPath(new URL('ours.ts', import.meta.url))
  const child = spawn(process.execPath, [file, kubeconfig, program, String(count)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  await new Promise<void>((resolve, reject) => {
    createInterface(child.stdout).once('line', () => resolve())
    child.on('error', reject)
    child.on('exit', code => reject(new Error(`${program} ended with code ${code}`)))
  })
  return { [Symbol.asyncDispose]: () => stop(child) }
}

/** kube-controller-manager and kube-scheduler, as fast as they like. */
export async function startTheirs(kubeconfig: string): Promise<AsyncDisposable> {
  const flags = ['--leader-elect=false', '--kube-api-qps=100000', '--kube-api-burst=100000']
  const stack = new AsyncDisposableStack()
  stack.use(startControllerManager({ kubeconfig }, { flags, verbosity: 0 }))
  stack.use(startScheduler({ kubeconfig }, { flags, verbosity: 0 }))
  return stack
}

export async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = new Promise(resolve => child.once('exit', resolve))
  child.kill('SIGTERM')
  await ended
}
