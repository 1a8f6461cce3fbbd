import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { after, before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import type { Client } from '@coxswain/client'
import { createClientFromKubeconfig } from '@coxswain/client/node'
import { createRealEnv, TaskGroup } from '@coxswain/kit'
import { runOperator } from '@coxswain/runtime'
import { createScheduler } from '@coxswain/scheduler'
import { apply, clear, create, look } from '../../packages/testing/src/test-support/scheduling/apply-step.ts'
import {
  answerExtender,
  configurationOf,
  house,
  optionsOf,
  type Tries,
} from '../../packages/testing/src/test-support/scheduling/house.ts'
import * as tables from '../../packages/testing/src/test-support/scheduling/index.ts'
import type { Scenario } from '../../packages/testing/src/test-support/scheduling/scenario.ts'
import { startServer } from '../support/coxswain.ts'
import { startRealScheduler } from './kube-scheduler.ts'

/** A server and the one scheduler that works on it. */
interface Side {
  readonly client: Client
  countTries(): Promise<number>
}

const longest = Number(process.env.LONGEST ?? 15_000)
/** How long nothing more may happen once it is as it should be. */
const still = 300

async function openClient(stack: AsyncDisposableStack): Promise<{ client: Client; kubeconfig: string }> {
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

async function startReal(stack: AsyncDisposableStack): Promise<Side> {
  const { client, kubeconfig } = await openClient(stack)
  const extenderUrl = await serveExtender(stack)
  const scheduler = stack.use(await startRealScheduler(kubeconfig, configurationOf(extenderUrl)))
  return { client, countTries: () => scheduler.countTries() }
}

async function startOurs(stack: AsyncDisposableStack): Promise<Side> {
  const { client } = await openClient(stack)
  const group = stack.use(new TaskGroup())
  const tries: Tries = { count: 0 }
  const operator = createScheduler(optionsOf(tries, () => async (url, body) => answerExtender(url, body)))
  group.spawn(signal => runOperator(operator, { client, env: createRealEnv(), signal, freeze: true }))
  return { client, countTries: async () => tries.count }
}

/** What came of each step. Waits until it is as it should be, or for long. */
async function play({ client, countTries }: Side, scenario: Scenario): Promise<object[]> {
  const outcomes: object[] = []
  try {
    for (const given of scenario.nodes) await create(client, given)
    await sleep(100)
    for (const step of scenario.steps) {
      const triesBefore = await countTries()
      await apply(client, step, () => sleep(still))
      const deadline = performance.now() + longest
      let end = await look(client, step)
      while (performance.now() < deadline && !isDeepStrictEqual(end, step.end ?? {})) {
        await sleep(50)
        end = await look(client, step)
      }
      await sleep(still)
      end = await look(client, step)
      const tries = (await countTries()) - triesBefore
      outcomes.push({ end, ...(step.tries !== undefined && { tries }) })
    }
  } finally {
    await clear(client, scenario)
    await sleep(100)
  }
  return outcomes
}

describe('scheduling beside the real kube-scheduler', () => {
  const stack = new AsyncDisposableStack()
  let real: Side
  let ours: Side
  before(async () => {
    real = await startReal(stack)
    ours = await startOurs(stack)
  })
  after(() => stack.disposeAsync())

  for (const scenario of Object.values(tables).flat()) {
    if (scenario.onlyVirtual || scenario.plugins) continue
    it(scenario.name, async () => {
      const expected = scenario.steps.map(({ end = {}, tries }) => ({
        end,
        ...(tries !== undefined && { tries }),
      }))
      const [theirs, own] = await Promise.all([play(real, scenario), play(ours, scenario)])
      assert.deepEqual(theirs, expected, 'the real scheduler')
      assert.deepEqual(own, expected, 'ours')
    })
  }
})
