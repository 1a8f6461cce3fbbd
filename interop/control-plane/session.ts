import { dirname } from 'node:path'
import type { Client } from '@coxswain/client'
import { createClientFromKubeconfig } from '@coxswain/client/node'
import { createRealEnv, TaskGroup } from '@coxswain/kit'
import { createSimulatedNodes } from '@coxswain/kubelet'
import { runOperator } from '@coxswain/runtime'
import { startServer } from '../support/coxswain.ts'
import { type RunningComponent, startControllerManager, startScheduler } from './components.ts'

/** A server of ours without controllers, the real controller manager and scheduler, and nodes on which nothing really runs. */
export interface Session extends AsyncDisposable {
  /** The administrator's. */
  readonly client: Client
  readonly url: string
  readonly kubeconfig: string
  readonly dataDir: string
  readonly controllerManager: RunningComponent
  readonly scheduler: RunningComponent
}

export interface SessionOptions {
  readonly nodes: number
  /** Where the scheduler answers, as kubeadm has it. */
  readonly schedulerPort: number
}

export async function startSession({ nodes, schedulerPort }: SessionOptions): Promise<Session> {
  await using stack = new AsyncDisposableStack()
  const server = stack.use(await startServer('--controllers', 'none'))
  const { kubeconfig, url } = server
  const env = createRealEnv()
  const connect = async (userAgent: string) => {
    const options = { kubeconfig, environment: {}, env, userAgent, onWarning: () => {} }
    return stack.use(await createClientFromKubeconfig(options)).client
  }
  const client = await connect('control-plane-test/0.1')
  const kubelet = await connect('kubelet/0.1')
  const group = stack.use(new TaskGroup())
  group.spawn(signal =>
    runOperator(createSimulatedNodes({ count: nodes }), { client: kubelet, env, signal, errorEvents: false }),
  )
  const controllerManager = stack.use(startControllerManager(server))
  const scheduler = stack.use(
    startScheduler(server, {
      flags: [`--secure-port=${schedulerPort}`, `--cert-dir=${dirname(kubeconfig)}`],
    }),
  )
  const running = stack.move()
  return {
    client,
    url,
    kubeconfig,
    dataDir: dirname(kubeconfig),
    controllerManager,
    scheduler,
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  }
}
