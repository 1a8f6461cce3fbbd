import { type ChildProcess, spawn } from 'node:child_process'
import { dirname, join } from 'node:path'
import { componentPath } from '../../tools/components/index.ts'
import type { RunningServer } from '../support/coxswain.ts'

/** A program of a real control plane that runs beside a server of ours. */
export interface RunningComponent extends AsyncDisposable {
  readonly name: string
  /** All it has logged, line by line. */
  readonly log: readonly string[]
  /** Rejects with its last words when it ends by itself. */
  readonly crashed: Promise<never>
  /** SIGKILL: leases are not given back. */
  kill(): Promise<void>
}

export interface ComponentOptions {
  /** More flags, after those that kubeadm gives. */
  readonly flags?: readonly string[]
  /** For the controller manager. @default all that kubeadm runs */
  readonly controllers?: readonly string[]
  /** klog's verbosity. @default 2, as kubeadm has it */
  readonly verbosity?: number
}

const lastWords = 40

/** kube-controller-manager with the flags that kubeadm gives it, against a server that runs no controllers. */
export function startControllerManager(
  server: Pick<RunningServer, 'kubeconfig'>,
  options: ComponentOptions = {},
): RunningComponent {
  const dataDir = dirname(server.kubeconfig)
  const pki = (name: string) => join(dataDir, 'pki', name)
  const { controllers = ['*', 'bootstrap-signer-controller', 'token-cleaner-controller'] } = options
  return start('kube-controller-manager-1.36', join(dataDir, 'controller-manager.conf'), options, [
    `--client-ca-file=${pki('ca.crt')}`,
    '--cluster-name=coxswain',
    `--cluster-signing-cert-file=${pki('ca.crt')}`,
    `--cluster-signing-key-file=${pki('ca.key')}`,
    `--controllers=${controllers.join()}`,
    `--root-ca-file=${pki('ca.crt')}`,
    `--service-account-private-key-file=${pki('sa.key')}`,
    '--use-service-account-credentials=true',
  ])
}

/** kube-scheduler with the flags that kubeadm gives it. */
export function startScheduler(
  server: Pick<RunningServer, 'kubeconfig'>,
  options: ComponentOptions = {},
): RunningComponent {
  const file = join(dirname(server.kubeconfig), 'scheduler.conf')
  return start('kube-scheduler-1.36', file, options, [])
}

function start(
  component: 'kube-controller-manager-1.36' | 'kube-scheduler-1.36',
  kubeconfig: string,
  { flags = [], verbosity = 2 }: ComponentOptions,
  own: readonly string[],
): RunningComponent {
  const args = [
    `--kubeconfig=${kubeconfig}`,
    `--authentication-kubeconfig=${kubeconfig}`,
    `--authorization-kubeconfig=${kubeconfig}`,
    '--bind-address=127.0.0.1',
    '--secure-port=0',
    '--leader-elect=true',
    `--v=${verbosity}`,
    ...own,
    ...flags,
  ]
  const child = spawn(componentPath(component), args, { stdio: ['ignore', 'ignore', 'pipe'] })
  const log: string[] = []
  let rest = ''
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    const lines = (rest + chunk).split('\n')
    rest = lines.pop()!
    log.push(...lines)
  })
  let isWanted = true
  const { promise: crashed, reject } = Promise.withResolvers<never>()
  crashed.catch(() => {})
  child.on('error', reject)
  child.on('exit', code => {
    if (isWanted)
      reject(new Error(`${component} ended with code ${code}\n${log.slice(-lastWords).join('\n')}`))
  })
  const stop = async (signal: NodeJS.Signals) => {
    isWanted = false
    await end(child, signal)
  }
  return {
    name: component,
    log,
    crashed,
    kill: () => stop('SIGKILL'),
    [Symbol.asyncDispose]: () => stop('SIGTERM'),
  }
}

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = new Promise(resolve => child.once('exit', resolve))
  child.kill(signal)
  await ended
}
