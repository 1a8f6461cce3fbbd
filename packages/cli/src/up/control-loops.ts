import { type Client, createClient } from '@coxswain/client'
import {
  createCertificateSigningController,
  createClusterRoleAggregationController,
  createDeploymentController,
  createGarbageCollector,
  createNamespaceController,
  createNodeLifecycleController,
  createReplicaSetController,
  createReplicationControllerController,
  createRootCaPublisher,
  createServiceAccountController,
  createTokenController,
} from '@coxswain/controllers'
import type { Env, TaskGroup } from '@coxswain/kit'
import { createSimulatedNodes } from '@coxswain/node'
import { defineOperator, installKinds, type Operator, runOperator } from '@coxswain/runtime'
import { createScheduler } from '@coxswain/scheduler'
import type { Transport } from '@coxswain/wire'
import type { KeyPair } from '@coxswain/wire/node'
import { webhookOptionsFor } from '../webhooks.ts'
import { createCertificateIssuer } from './certificate-issuer.ts'
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
  /** Signs client certificates. */
  readonly ca: KeyPair
  /** Signs the claims of a service account's token. */
  readonly signToken: (claims: Readonly<Record<string, string>>) => string
}

const controllers: Readonly<Record<ControllerName, (options: ControlLoopOptions) => Operator>> = {
  'certificatesigningrequest-signing-controller': ({ ca, env }) =>
    createCertificateSigningController(createCertificateIssuer(ca, env)),
  'clusterrole-aggregation-controller': createClusterRoleAggregationController,
  'deployment-controller': createDeploymentController,
  'garbage-collector-controller': createGarbageCollector,
  'namespace-controller': () => createNamespaceController(),
  'node-lifecycle-controller': () => createNodeLifecycleController(),
  'replicaset-controller': createReplicaSetController,
  'replicationcontroller-controller': createReplicationControllerController,
  'root-ca-certificate-publisher-controller': ({ rootCa }) => createRootCaPublisher(rootCa),
  'serviceaccount-controller': createServiceAccountController,
  'serviceaccount-token-controller': ({ rootCa, signToken }) =>
    createTokenController({ rootCa, sign: signToken }),
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
  const start = (operator: Operator, client: Client) => {
    const webhooks = webhookOptionsFor(operator, env)
    group.spawn(signal => runOperator(operator, { client, env, signal, webhooks }))
  }
  if (options.controllers.length > 0) {
    // One operator, so that they share caches.
    const manager = defineOperator('kube-controller-manager', operator => {
      for (const name of options.controllers) controllers[name](options).setup(operator)
    })
    start(manager, ownClientOf('kube-controller-manager/0.1'))
    start(createScheduler(), ownClientOf('kube-scheduler/0.1'))
    if (options.nodes > 0)
      start(createSimulatedNodes({ count: options.nodes }), ownClientOf('coxswain-node/0.1'))
  }
  if (options.operators.length === 0) return
  await installKinds(clientOf('coxswain-install/0.1'), options.operators)
  for (const operator of options.operators) start(operator, clientOf(`${operator.name}/0.1`))
}
