import { spawn } from 'node:child_process'
import { CommandError } from '../exit.ts'
import { childVariable, ownCommand } from '../parent.ts'

export interface ControlPlaneFlags {
  readonly port: number
  readonly dataDir: string
  readonly storage: string
  readonly nodes: number
  readonly runtime: string
  readonly logFormat: string
}

/** `coxswain up` in a process of its own, which ends with this one. */
export interface ControlPlaneProcess {
  /** Undefined when it ended before it was ready; it has said why. */
  readonly ready: Promise<{ readonly url: string; readonly kubeconfig: string } | undefined>
  /** Resolves with the exit code. */
  readonly exited: Promise<number>
  /** Resolves when it has stopped. @throws CommandError when it did not stop cleanly */
  stop(): Promise<void>
}

const readyLine = /ready at (\S+), run: export KUBECONFIG=(.+)\n/

export function startControlPlane(flags: ControlPlaneFlags): ControlPlaneProcess {
  const options = [
    ...['--port', String(flags.port), '--data-dir', flags.dataDir, '--storage', flags.storage],
    ...['--nodes', String(flags.nodes), '--runtime', flags.runtime, '--log-format', flags.logFormat],
  ]
  const [program, ...own] = ownCommand()
  const child = spawn(program, [...own, 'up', ...options], {
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
    env: { ...process.env, [childVariable]: '1' },
    // A signal of the terminal is for this process, which stops the operators first.
    detached: true,
  })
  let isStopping = false
  const exited = new Promise<number>(resolve => {
    child.on('error', () => resolve(1))
    child.on('exit', (code, name) => resolve(code ?? (isStopping && name === 'SIGTERM' ? 0 : 1)))
  })
  const ready = Promise.withResolvers<{ url: string; kubeconfig: string }>()
  let printed = ''
  child.stdout!.setEncoding('utf8').on('data', (text: string) => {
    printed = `${printed}${text}`.slice(-10_000)
    const [, url, kubeconfig] = readyLine.exec(printed) ?? []
    if (url !== undefined && kubeconfig !== undefined) ready.resolve({ url, kubeconfig })
  })
  return {
    ready: Promise.race([ready.promise, exited.then(() => undefined)]),
    exited,
    async stop() {
      isStopping = true
      child.kill('SIGTERM')
      const code = await exited
      if (code !== 0) throw new CommandError(`the control plane ended with code ${code}`)
    },
  }
}
