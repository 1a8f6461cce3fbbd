import { hostname } from 'node:os'
import type { Client } from '@coxswain/client'
import { createClientFromKubeconfig } from '@coxswain/client/node'
import { createRealEnv, type LogLevel, TaskGroup } from '@coxswain/kit'
import { abortOnSignals, createPinoLogger } from '@coxswain/kit/node'
import { findKindsToInstall, type KindsToInstall, type Operator, runOperator } from '@coxswain/runtime'
import { explainKubeconfigError } from '../kubeconfig/kubeconfig-error.ts'
import { explainInstall, loadOperators, tellInstalled } from '../operators.ts'
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
  const { client } = connected
  using stop = abortOnSignals()
  using _alive = keepAlive()
  await using group = new TaskGroup(stop.signal)
  process.stdout.write(
    `running ${operators.map(({ name }) => name).join(', ')} against ${connected.server}\n`,
  )
  for (const operator of operators) {
    const webhooks = webhookOptionsFor(operator, env, options)
    const install = options.install && { install: { onInstalled: tellInstalled } }
    group.spawn(signal =>
      runOperator(operator, { client, env, hostname: hostname(), signal, webhooks, ...install }),
    )
  }
  if (!options.install) await tellNotInstalled(client, operators, files)
  await group.join().catch((error: unknown) => {
    throw explainInstall(error)
  })
}

/** Operators wait for kinds that come later, and run with old ones: whoever forgot to install them should know. */
async function tellNotInstalled(
  client: Client,
  operators: readonly Operator[],
  files: readonly string[],
): Promise<void> {
  let kinds: KindsToInstall
  try {
    kinds = await findKindsToInstall(client, operators)
  } catch {
    return // no answer, or one that only others may have: the operators say what they cannot do
  }
  const tell = (state: string, names: readonly string[], what: string): void => {
    if (names.length === 0) return
    const those = names.length === 1 ? 'it' : 'them'
    process.stderr.write(
      `coxswain: ${state}: customresourcedefinition ${names.join(', ')}; to ${what} ${those}, run: coxswain run --install ${files.join(' ')}\n`,
    )
  }
  tell('not installed', kinds.missing, 'install')
  tell('not as this operator defines it', kinds.outdated, 'update')
}

/** An operator that waits for nothing yet runs until a signal all the same. */
function keepAlive(): Disposable {
  const timer = setInterval(() => {}, 2 ** 30)
  return { [Symbol.dispose]: () => clearInterval(timer) }
}
