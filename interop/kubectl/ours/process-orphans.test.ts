import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { startServer } from '../../support/coxswain.ts'
import { eventually } from '../../support/eventually.ts'
import { createKubectl } from '../../support/kubectl.ts'
import { expecting, namespaceIsReady } from '../session.ts'

const directory = mkdtempSync(join(tmpdir(), 'process-orphans-'))
after(() => rmSync(directory, { recursive: true, force: true }))

/** How long they would sleep: a number that no other process on this machine uses. */
const programs = [1, 2, 3, 4, 5].map(each => String(process.pid * 10 + each))
const [first, second, third, fourth, fifth] = programs
/** Stays in its group; leaves it; leaves it without an environment; is forked twice and has no parent. */
const scripts = [
  `sleep ${first} & wait`,
  `setsid sleep ${second} & wait`,
  `env -i setsid sleep ${third} & wait`,
  `(setsid sh -c 'sleep ${fourth} &' &); sleep ${fifth}`,
]

/** The processes that are `sleep NUMBER`, for the numbers above. */
function sleepers(): string[] {
  return readdirSync('/proc').filter(name => {
    try {
      const [program, argument = ''] = readFileSync(`/proc/${name}/cmdline`, 'latin1').split('\0')
      return program === 'sleep' && programs.includes(argument)
    } catch {
      return false
    }
  })
}

const allSleep = () => eventually('all of them sleep', async () => sleepers().length === programs.length)

describe('what pods have started', () => {
  it('is ended when a killed server has restarted, and when it is stopped', async () => {
    const file = join(directory, 'pods.json')
    const items = scripts.map((script, index) => ({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: `brood-${index}` },
      spec: {
        terminationGracePeriodSeconds: 1,
        containers: [{ name: 'main', image: 'busybox', command: ['sh', '-c', script] }],
      },
    }))
    writeFileSync(file, JSON.stringify({ apiVersion: 'v1', kind: 'List', items }))
    {
      await using server = await startServer('--runtime', 'process', '--nodes', '2')
      const { ok, until } = expecting('kubectl', createKubectl('1.36', server.kubeconfig))
      await until(namespaceIsReady)
      await ok(`apply -f ${file}`)
      await ok('wait --for=condition=Ready pod --all --timeout=120s')
      await allSleep()
      const before = sleepers()
      await server.kill()
      assert.deepEqual(sleepers(), before)
      await server.restart()
      const restarts = 'jsonpath={.items[*].status.containerStatuses[0].restartCount}'
      await until(`get pods -o ${restarts}`, '1 1 1 1')
      await allSleep()
      assert.deepEqual(
        sleepers().filter(pid => before.includes(pid)),
        [],
      )
    }
    assert.deepEqual(sleepers(), [])
  })
})
