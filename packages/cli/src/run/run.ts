import { hostname } from 'node:os'
import { createClientFromKubeconfig } from '@coxswain/client/node'
import { createRealEnv, type LogLevel, TaskGroup } from '@coxswain/kit'
import { abortOnSignals, createPinoLogger } from '@coxswain/kit/node'
import { installKinds, runOperator } from '@coxswain/runtime'
import { explainKubeconfigError } from '../kubeconfig/kubeconfig-error.ts'
import { loadOperators } from '../operators.ts'
import { type WebhookCommandOptions, webhookOptionsFor } from '../webhooks.ts'

export interface RunCommandOptions extends WebhookCommandOptions {
  readonly kubeconfig?: string
  readonly context?: string
  readonly install: boolean
  readonly logLevel: LogLevel
}

/** Runs operators against the cluster of the kubeconfig until a signal stops them. */
export async function runRun(files: readonly string[], options: RunCommandOptions): Promise<void> {
  const env = createRealEnv(createPinoLogger({ level: options.logLevel }))
  const operators = await loadOperators(files)
  const { kubeconfig, context } = options
  await using connected = await createClientFromKubeconfig({
    env,
    userAgent: 'coxswain-run/0.1',
    ...(kubeconfig !== undefined && { kubeconfig }),
    ...(context !== undefined && { context }),
  }).catch((error: unknown) => {
    throw explainKubeconfigError(error, kubeconfig)
  })
  if (options.install) await installKinds(connected.client, operators)
  using stop = abortOnSignals()
  using _alive = keepAlive()
  await using group = new TaskGroup(stop.signal)
  process.stdout.write(
    `running ${operators.map(({ name }) => name).join(', ')} against ${connected.server}\n`,
  )
  for (const operator of operators) {
    const webhooks = webhookOptionsFor(operator, env, options)
    group.spawn(signal =>
      runOperator(operator, { client: connected.client, env, hostname: hostname(), signal, webhooks }),
    )
  }
  await group.join()
}

/** An operator that waits for nothing yet runs until a signal all the same. */
function keepAlive(): Disposable {
  const timer = setInterval(() => {}, 2 ** 30)
  return { [Symbol.dispose]: () => clearInterval(timer) }
}
