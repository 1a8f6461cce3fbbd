import assert from 'node:assert/strict'
import { tmpdir } from 'node:os'
import { after, before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { Namespace } from '@coxswain/api/core/v1'
import type { Client } from '@coxswain/client'
import { createClientFromKubeconfig } from '@coxswain/client/node'
import { controllerNames } from '@coxswain/controllers/names'
import { createLogger, createRealEnv, type LogRecord, TaskGroup } from '@coxswain/kit'
import { createSimulatedNodes } from '@coxswain/kubelet'
import { type Operator, runOperator } from '@coxswain/runtime'
import { createScheduler } from '@coxswain/scheduler'
import { createCertificate } from '@coxswain/wire/node'
import { createControllerManager } from '../../packages/cli/src/up/loops/control-loops.ts'
import { describeClusterLife } from '../support/cluster-life.ts'
import { eventually } from '../support/eventually.ts'
import { startTarget } from '../support/target.ts'

const nodes = 3
const day = 86_400_000
/** What a scenario is about, and what was deleted while it was looked at. */
const expected = /exceeded quota: small|" not found$/

describe('our controllers, scheduler and nodes, against a real server', () => {
  const stack = new AsyncDisposableStack()
  const records: LogRecord[] = []
  let client: Client
  before(async () => {
    const { kubeconfig } = stack.use(await startTarget())
    const env = createRealEnv(createLogger(record => records.push(record)))
    const connect = async (userAgent: string) => {
      const options = { kubeconfig, environment: {}, env, userAgent, onWarning: () => {} }
      return stack.use(await createClientFromKubeconfig(options)).client
    }
    client = await connect('control-loops-test/0.1')
    const group = stack.use(new TaskGroup())
    const start = async (operator: Operator, userAgent: string) => {
      const own = await connect(userAgent)
      group.spawn(signal => runOperator(operator, { client: own, env, signal, freeze: true }))
    }
    const now = env.clock.now()
    const subject = { commonName: 'test-ca' }
    const ca = createCertificate(
      { subject, usages: ['ca'], notBefore: now - day, notAfter: now + day },
      env.random,
    )
    const manager = createControllerManager({
      env,
      controllers: controllerNames,
      rootCa: ca.certificate,
      volumes: tmpdir(),
      ca,
      signToken: () => '', // no scenario uses a token that the server did not make itself
    })
    await start(manager, 'kube-controller-manager/0.1')
    await start(createScheduler(), 'kube-scheduler/0.1')
    await start(createSimulatedNodes({ count: nodes }), 'kubelet/0.1')
  })
  after(() => stack.disposeAsync())

  describeClusterLife(() => ({ client, nodes }))

  it('have nothing to complain of, and fall silent when nothing happens', async () => {
    const complaints = records.filter(({ level }) => level === 'error').map(describeRecord)
    assert.deepEqual(
      complaints.filter(text => !expected.test(text)),
      [],
    )
    const ours = async () =>
      (await client.list(Namespace)).items.filter(({ metadata }) => metadata.generateName !== undefined)
    for (const { metadata } of await ours()) await client.delete(Namespace, { name: metadata.name })
    await eventually('the namespaces are deleted', async () => (await ours()).length === 0, 90_000)
    await sleep(5_000)
    const said = records.length
    await sleep(10_000)
    const late = records.slice(said).filter(({ level }) => level === 'warn' || level === 'error')
    assert.deepEqual(late.map(describeRecord), [])
  })
})

const describeRecord = ({ level, message, fields }: LogRecord) => {
  const { controller, key, error } = fields
  return `${level} ${message} ${controller} ${key}: ${error instanceof Error ? error.message : error}`
}
