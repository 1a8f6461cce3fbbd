import { hostname } from 'node:os'
import { createClient } from '@coxswain/client'
import type { Env, TaskGroup } from '@coxswain/kit'
import { installKinds, type Operator, runOperator } from '@coxswain/runtime'
import type { Transport } from '@coxswain/wire'
import { webhookOptionsFor } from '../../webhooks.ts'

export interface OperatorSurroundings {
  /** A connection to the server, as somebody who may do everything. */
  readonly connect: (options?: { readonly lendsAnswers: boolean }) => Transport
  readonly env: Env
  readonly group: TaskGroup
}

/** Starts operators beside the server, on its thread. Resolves when their kinds are there and all of them have been started. */
export async function startOperators(
  operators: readonly Operator[],
  { connect, env, group }: OperatorSurroundings,
): Promise<void> {
  const clientOf = (userAgent: string) => createClient({ env, userAgent, transport: connect() })
  await installKinds(clientOf('coxswain-install/0.1'), operators)
  for (const operator of operators) {
    const options = {
      client: clientOf(`${operator.name}/0.1`),
      env,
      webhooks: webhookOptionsFor(operator, env),
    }
    group.spawn(signal => runOperator(operator, { ...options, hostname: hostname(), signal }))
  }
}
