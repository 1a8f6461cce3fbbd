import { Namespace } from '@coxswain/api/core/v1'
import type { Client } from '@coxswain/client'
import { createClientFromKubeconfig } from '@coxswain/client/node'
import {
  createGarbageCollector,
  createNamespaceController,
  createServiceAccountController,
} from '@coxswain/controllers'
import { createRealEnv, type Env, TaskGroup } from '@coxswain/kit'
import { type ManagerOptions, type Operator, runOperator } from '@coxswain/runtime'
import { startTarget } from '../support/target.ts'

export { eventually } from '../support/eventually.ts'

/** A connection to the server under test, and operators that run beside it in this process. */
export interface Session extends AsyncDisposable {
  readonly client: Client
  readonly env: Env
  readonly kubeconfig: string
  /** A namespace of its own. */
  readonly namespace: string
  /** Runs an operator until the session ends, or until the function it gives is called. */
  start(
    operator: Operator,
    options?: Omit<ManagerOptions, 'client' | 'transport' | 'env'>,
  ): () => Promise<void>
}

/** Ours may run none, and the real server has none: garbage collection, namespaces and accounts are those of this package. */
export async function startSession(name: string): Promise<Session> {
  await using stack = new AsyncDisposableStack()
  const target = stack.use(await startTarget())
  const env = createRealEnv()
  const { client } = stack.use(
    await createClientFromKubeconfig({
      kubeconfig: target.kubeconfig,
      environment: {},
      env,
      userAgent: `real-${name}/0.1`,
      onWarning: () => {},
    }),
  )
  const group = stack.use(new TaskGroup())
  const start: Session['start'] = (operator, options = {}) => {
    const inner = new TaskGroup(group.signal)
    inner.spawn(signal => runOperator(operator, { freeze: true, ...options, client, env, signal }))
    group.spawn(() => inner.join())
    return async () => {
      inner.abort()
      await inner.join()
    }
  }
  start(createGarbageCollector())
  start(createNamespaceController())
  start(createServiceAccountController())
  const made = await client.create(Namespace, { metadata: { generateName: `${name}-` } })
  const running = stack.move()
  return {
    client,
    env,
    kubeconfig: target.kubeconfig,
    namespace: made.metadata.name,
    start,
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  }
}
