/** A server of ours and one scheduler that works on it: the real one, or ours. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { hostname } from 'node:os'
import { text } from 'node:stream/consumers'
import type { Client } from '@coxswain/client'
import { createClientFromKubeconfig } from '@coxswain/client/node'
import { createRealEnv, TaskGroup } from '@coxswain/kit'
import { runOperator } from '@coxswain/runtime'
import { createScheduler } from '@coxswain/scheduler'
import { create } from '../../packages/testing/src/test-support/scheduling/apply-step.ts'
import {
  answerExtender,
  configurationOf,
  house,
  optionsOf,
  type Tries,
} from '../../packages/testing/src/test-support/scheduling/house.ts'
import { startServer } from '../support/coxswain.ts'
import { startRealScheduler } from './kube-scheduler.ts'

export interface Side {
  readonly client: Client
  countTries(): Promise<number>
}

/** A server with what every scenario finds, and an administrator's client. */
export async function openHouse(
  stack: AsyncDisposableStack,
): Promise<{ client: Client; kubeconfig: string }> {
  const { kubeconfig } = stack.use(await startServer('--controllers', 'none'))
  const env = createRealEnv()
  const options = { kubeconfig, environment: {}, env, userAgent: 'scenarios/0.1', onWarning: () => {} }
  const { client } = stack.use(await createClientFromKubeconfig(options))
  for (const given of house) await create(client, given)
  return { client, kubeconfig }
}

async function serveExtender(stack: AsyncDisposableStack): Promise<string> {
  const server = createServer(async (request, response) => {
    const body = JSON.parse(await text(request))
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify(answerExtender(request.url ?? '', body)))
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  stack.defer(() => void server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

export async function startReal(stack: AsyncDisposableStack): Promise<Side> {
  const { client, kubeconfig } = await openHouse(stack)
  const extenderUrl = await serveExtender(stack)
  const scheduler = stack.use(await startRealScheduler(kubeconfig, configurationOf(extenderUrl)))
  return { client, countTries: () => scheduler.countTries() }
}

export async function startOurs(stack: AsyncDisposableStack): Promise<Side> {
  const { client } = await openHouse(stack)
  const group = stack.use(new TaskGroup())
  const tries: Tries = { count: 0 }
  const operator = createScheduler(optionsOf(tries, () => async (url, body) => answerExtender(url, body)))
  const options = { client, env: createRealEnv(), freeze: true, hostname: hostname() }
  group.spawn(signal => runOperator(operator, { ...options, signal, errorEvents: false }))
  return { client, countTries: async () => tries.count }
}
