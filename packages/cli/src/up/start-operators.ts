import { hostname } from 'node:os'
import { createClient } from '@coxswain/client'
import { aborted, type Env, type TaskGroup } from '@coxswain/kit'
import { Manager, type Operator } from '@coxswain/runtime'
import type { Transport } from '@coxswain/wire'
import { explainInstall, tellInstalled } from '../operators.ts'
import { webhookOptionsFor } from '../webhooks.ts'

export interface OperatorSurroundings {
  /** A connection to the server, as somebody who may do everything. */
  readonly connect: (options?: { readonly lendsAnswers: boolean }) => Transport
  readonly env: Env
  readonly group: TaskGroup
}

/** How long operators may take until they are ready; some wait for kinds that others install later. */
const readyLimit = 30_000

/** Starts operators beside the server, on its thread. Resolves when their kinds are installed and all of them are ready. */
export async function startOperators(
  operators: readonly Operator[],
  { connect, env, group }: OperatorSurroundings,
): Promise<void> {
  const isReady = operators.map(operator => {
    const { name } = operator
    const manager = new Manager(operator, {
      client: createClient({ env, userAgent: `${name}/0.1`, transport: connect() }),
      env,
      hostname: hostname(),
      webhooks: webhookOptionsFor(operator, env),
      install: { onInstalled: tellInstalled },
    })
    const failed = Promise.withResolvers<never>()
    failed.promise.catch(() => {}) // it ends the group too
    group.spawn(signal =>
      manager.run(signal).catch((error: unknown) => {
        const explained = explainInstall(error)
        failed.reject(explained)
        throw explained
      }),
    )
    const limit = new AbortController()
    const late = env.clock.sleep(readyLimit, { signal: limit.signal }).then(
      () => env.log.warn('an operator is not ready yet', { operator: name }),
      () => {},
    )
    const stopped = aborted(group.signal)
    return Promise.race([manager.ready, failed.promise, late, stopped]).finally(() => limit.abort())
  })
  await Promise.all(isReady)
}
