import { readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { Event, Namespace, Node, ServiceAccount } from '@coxswain/api/core/v1'
import type { Kind } from '@coxswain/apimachinery/kinds'
import type { Client } from '@coxswain/client'
import { createClientFromKubeconfig } from '@coxswain/client/node'
import type { ControllerName } from '@coxswain/controllers/names'
import { createRealEnv, TaskGroup } from '@coxswain/kit'
import { defineOperator, type Operator, runOperator } from '@coxswain/runtime'
import { createControllerManager } from '../../../packages/cli/src/up/loops/control-loops.ts'
import { startServer } from '../../support/coxswain.ts'
import { startControllerManager } from '../components.ts'
import { createScriptedPods, type Script } from './scripted-pods.ts'
import { kinds, type Snapshot, takeSnapshot } from './snapshot.ts'
import { type Scenario, Stage } from './stage.ts'

/** Those that have a part in the scenarios. */
const workloadControllers: readonly ControllerName[] = [
  'cronjob-controller',
  'daemonset-controller',
  'deployment-controller',
  'disruption-controller',
  'endpoints-controller',
  'endpointslice-controller',
  'endpointslice-mirroring-controller',
  'garbage-collector-controller',
  'job-controller',
  'namespace-controller',
  'persistentvolumeclaim-protection-controller',
  'replicaset-controller',
  'replicationcontroller-controller',
  'resourcequota-controller',
  'serviceaccount-controller',
  'statefulset-controller',
  'ttl-after-finished-controller',
]

const fast = ['--kube-api-qps=1000', '--kube-api-burst=1000']
const runs: Script = () => 'ready'

/** A server of ours without controllers of its own, with the real controller manager or with ours beside it. */
export interface Side extends AsyncDisposable {
  /** A new namespace, in which the controllers are at work. */
  open(namespace: string, script: Script): Promise<Stage>
  /** What the namespace looks like when the scenario has come to its end. */
  play(scenario: Scenario, namespace: string): Promise<Snapshot>
}

/** `more` are controllers that run beside those of workloads. */
export async function startSide(which: 'real' | 'ours', more: readonly ControllerName[] = []): Promise<Side> {
  const controllers = [...workloadControllers, ...more]
  await using stack = new AsyncDisposableStack()
  const server = stack.use(await startServer('--controllers', 'none'))
  const env = createRealEnv()
  const connect = async (userAgent: string): Promise<Client> => {
    const { kubeconfig } = server
    const options = { kubeconfig, environment: {}, env, userAgent, onWarning: () => {} }
    return stack.use(await createClientFromKubeconfig(options)).client
  }
  const client = await connect('scenario/0.1')
  const group = stack.use(new TaskGroup())
  const run = async (operator: Operator, userAgent: string) => {
    const own = await connect(userAgent)
    group.spawn(signal => runOperator(operator, { client: own, env, signal, errorEvents: false }))
  }
  const scripts = new Map<string, Script>()
  const changes = new Map<string, number>()
  await run(
    createScriptedPods(namespace => scripts.get(namespace) ?? runs),
    'kubelet/0.1',
  )
  await run(createWitness(changes), 'witness/0.1')
  if (which === 'real') stack.use(startControllerManager(server, { flags: fast, controllers }))
  else await run(createOurs(dirname(server.kubeconfig), env, controllers), 'kube-controller-manager/0.1')

  for (const name of ['node-a', 'node-b']) await addNode(client, name)
  const running = stack.move()
  const open = async (namespace: string, script: Script): Promise<Stage> => {
    scripts.set(namespace, script)
    await client.create(Namespace, { metadata: { name: namespace } })
    const lastChange = () => changes.get(namespace) ?? 0
    const stage = new Stage({ client, namespace, lastChange })
    // Without it no pod is made; with it the controllers are known to run.
    await stage.until('the namespace has its account', () => stage.get(ServiceAccount, 'default'))
    return stage
  }
  return {
    open,
    async play({ script = runs, act, ...masks }, namespace) {
      const stage = await open(namespace, script)
      await act(stage)
      await stage.settle()
      return takeSnapshot(client, namespace, masks)
    },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  }
}

/** A node whose status says that it is ready. */
export async function addNode(client: Client, name: string, more: object = {}): Promise<void> {
  const labels = { 'kubernetes.io/hostname': name, ...more }
  const node = await client.create(Node, { metadata: { name, labels } })
  const allocatable = { cpu: '80', memory: '160Gi', pods: '1000' }
  const conditions = [{ type: 'Ready', status: 'True' as const }]
  await client.updateStatus(Node, { ...node, status: { capacity: allocatable, allocatable, conditions } })
  await client.patch(Node, { name }, { spec: { taints: [] } }, { type: 'merge' })
}

function createOurs(
  dataDir: string,
  env: ReturnType<typeof createRealEnv>,
  controllers: readonly ControllerName[],
): Operator {
  const read = (name: string) => readFileSync(join(dataDir, 'pki', name), 'utf8')
  return createControllerManager({
    env,
    controllers,
    rootCa: read('ca.crt'),
    volumes: tmpdir(),
    ca: { certificate: read('ca.crt'), key: read('ca.key') },
    signToken: () => '',
  })
}

/** Writes down when something changed last in each namespace. */
function createWitness(changes: Map<string, number>): Operator {
  return defineOperator('witness', operator => {
    for (const kind of [...kinds, Event as Kind])
      operator
        .controller(`witness-${kind.kind.toLowerCase()}`)
        .for(kind)
        .reconcile(async ({ key }) => {
          changes.set(key.namespace ?? '', performance.now())
        })
  })
}
