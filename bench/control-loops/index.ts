/**
 * `npm run bench -- control-loops [--only REGEX]`
 *
 * Controllers and scheduler are programs of their own on both sides, beside one server of ours on memory storage and our simulated
 * nodes. What others notice, and what idle pods cost, is measured on `coxswain up` as it is.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import type { Client } from '@coxswain/client'
import { createClientFromKubeconfig } from '@coxswain/client/node'
import { createRealEnv } from '@coxswain/kit'
import { startServer } from '../../interop/support/coxswain.ts'
import { readAccess } from '../apiserver/access.ts'
import { cpuMilliseconds } from '../apiserver/usage.ts'
import type { BenchCase, BenchDefinition } from '../harness.ts'
import { createDeployment, deleteDeployment, nodesReady, rollOut } from './deployments.ts'
import { p99OfGets } from './gets.ts'
import { startOurs, startTheirs } from './programs.ts'
import { schedulingCases } from './scheduling.ts'

export const options = { only: { type: 'string', default: '' }, json: { type: 'string' } } as const

const { values: given } = parseArgs({ args: process.argv.slice(3), options })
const wanted = new RegExp(given.only)

const replicas = 1_000
const nodes = 100
const idlePods = 5_000
const idleMilliseconds = 30_000
const quietMilliseconds = 5_000

/** Set up when the first case of it comes. */
type Setup = (stack: AsyncDisposableStack) => Promise<readonly BenchCase[]>

export const bench: BenchDefinition = {
  title: `control loops: ${nodes} simulated nodes; beside kube-controller-manager and kube-scheduler 1.36`,
  async cases(stack) {
    const cases: BenchCase[] = []
    for (const [name, setup] of Object.entries(setups)) {
      if (wanted.test(name)) cases.push(...(await setup(stack)))
    }
    return cases
  },
}

const setups: Readonly<Record<string, Setup>> = {
  deployment: deploymentCases,
  scheduling: schedulingCases,
  rollout: rolloutCases,
  idle: idleCases,
}

const connect = async (kubeconfig: string): Promise<Client> =>
  (await createClientFromKubeconfig({ env: createRealEnv(), kubeconfig, onWarning: () => {} })).client

async function deploymentCases(stack: AsyncDisposableStack): Promise<readonly BenchCase[]> {
  const { kubeconfig } = stack.use(await startServer('--storage', 'memory', '--controllers', 'none'))
  stack.use(await startOurs(kubeconfig, 'nodes', nodes))
  const client = await connect(kubeconfig)
  const measure = async (start: () => Promise<AsyncDisposable>) => {
    await using _running = await start()
    await nodesReady(client, nodes)
    // Both have read everything, and found their speed.
    await createDeployment(client, 'first', 10)
    await deleteDeployment(client, 'first')
    const took = await createDeployment(client, 'web', replicas)
    await deleteDeployment(client, 'web')
    return took
  }
  return [
    {
      name: `a Deployment of ${replicas}, created to all running`,
      unit: 'ms',
      measure: () => measure(() => startOurs(kubeconfig, 'loops')),
      reference: {
        name: 'kube-controller-manager and kube-scheduler',
        measure: () => measure(() => startTheirs(kubeconfig)),
      },
      goal: { of: 'ratio', atMost: 1 },
    },
  ]
}

async function rolloutCases(stack: AsyncDisposableStack): Promise<readonly BenchCase[]> {
  const { kubeconfig } = stack.use(await startServer('--storage', 'memory', '--nodes', String(nodes)))
  const client = await connect(kubeconfig)
  const access = await readAccess(kubeconfig)
  await nodesReady(client, nodes)
  await createDeployment(client, 'web', replicas)
  const path = '/api/v1/namespaces/default/configmaps/kube-root-ca.crt'
  return [
    {
      name: `p99 of gets during a rollout of ${replicas}`,
      unit: 'ms',
      measure: () => p99OfGets(access, path, rollOut(client, 'web', replicas)),
      reference: { name: 'without', measure: () => p99OfGets(access, path, sleep(quietMilliseconds)) },
      goal: { of: 'ratio', atMost: 2 },
    },
  ]
}

async function idleCases(stack: AsyncDisposableStack): Promise<readonly BenchCase[]> {
  const server = stack.use(await startServer('--storage', 'memory', '--nodes', String(nodes)))
  const client = await connect(server.kubeconfig)
  await nodesReady(client, nodes)
  await createDeployment(client, 'web', idlePods)
  await sleep(idleMilliseconds)
  return [
    {
      name: `${idlePods} idle pods on ${nodes} nodes`,
      unit: '% of a core',
      measure: async () => {
        const before = cpuMilliseconds([server.pid])
        await sleep(idleMilliseconds)
        return ((cpuMilliseconds([server.pid]) - before) / idleMilliseconds) * 100
      },
      goal: { of: 'value', atMost: 5 },
    },
  ]
}
