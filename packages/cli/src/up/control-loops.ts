import { type Client, createClient } from '@coxswain/client'
import {
  createGarbageCollector,
  createNamespaceController,
  createRootCaPublisher,
  createServiceAccountController,
} from '@coxswain/controllers'
import type { Env, TaskGroup } from '@coxswain/kit'
import { createSimulatedNodes } from '@coxswain/node'
import { type Operator, runOperator } from '@coxswain/runtime'
import type { Transport } from '@coxswain/wire'
import { installKinds } from '../install-kinds.ts'
import type { ControllerName } from './controller-names.ts'

export interface ControlLoopOptions {
  /** A connection to the server, as somebody who may do everything. */
  readonly connect: () => Transport
  readonly env: Env
  readonly group: TaskGroup
  readonly operators: readonly Operator[]
  readonly controllers: readonly ControllerName[]
  readonly nodes: number
  /** PEM of the CA that signed the server's certificate. */
  readonly rootCa: string
}

const controllers: Readonly<Record<ControllerName, (options: ControlLoopOptions) => Operator>> = {
  'garbage-collector-controller': createGarbageCollector,
  'namespace-controller': createNamespaceController,
  'root-ca-certificate-publisher-controller': ({ rootCa }) => createRootCaPublisher(rootCa),
  'serviceaccount-controller': createServiceAccountController,
}

/** Starts controllers, nodes and operators beside the server. Resolves when all of them have been started. */
export async function startControlLoops(options: ControlLoopOptions): Promise<void> {
  const { connect, env, group } = options
  const clientOf = (userAgent: string): Client => createClient({ env, userAgent, transport: connect() })
  // The garbage collector watches deprecated kinds too: nobody can do anything about what it is told of them.
  const ownClientOf = (userAgent: string): Client =>
    createClient({
      env,
      userAgent,
      transport: connect(),
      onWarning: ({ text }, { path }) => env.log.debug('server warning', { text, path }),
    })
  const start = (operator: Operator, client: Client) =>
    group.spawn(signal => runOperator(operator, { client, env, signal }))
  for (const name of options.controllers) {
    start(controllers[name](options), ownClientOf(`coxswain-${name}/0.1`))
  }
  if (options.controllers.length > 0 && options.nodes > 0) {
    start(createSimulatedNodes({ count: options.nodes }), ownClientOf('coxswain-node/0.1'))
  }
  if (options.operators.length === 0) return
  await installKinds(clientOf('coxswain-install/0.1'), options.operators)
  for (const operator of options.operators) start(operator, clientOf(`${operator.name}/0.1`))
}
