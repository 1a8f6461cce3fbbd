import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { startServer } from '../../support/coxswain.ts'
import { createKubectl, eventually, succeeds } from '../../support/kubectl.ts'

const directory = mkdtempSync(join(tmpdir(), 'process-orphans-'))
after(() => rmSync(directory, { recursive: true, force: true }))

/** Stays in its group; leaves it; leaves it without an environment; is forked twice and has nobody above it. */
const scripts = [
  'sleep 70001 & wait',
  'setsid sleep 70002 & wait',
  'env -i setsid sleep 70003 & wait',
  "(setsid sh -c 'sleep 70004 &' &); sleep 70005",
]
const programs = ['70001', '70002', '70003', '70004', '70005']

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

const countOf = (of: () => readonly string[]) => async () => ({
  code: 0,
  stderr: '',
  stdout: `${of().length} processes`,
})

describe('what pods have started', () => {
  it('is gone when a server that was killed is back, and when it is stopped', async () => {
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
      const kubectl = createKubectl('1.36', server.kubeconfig)
      await eventually(
        () => kubectl('get', 'serviceaccount', 'default', '-o', 'name'),
        /^serviceaccount\/default/,
      )
      await succeeds(kubectl('apply', '-f', file))
      await succeeds(kubectl('wait', '--for=condition=Ready', 'pod', '--all', '--timeout=30s'))
      await eventually(countOf(sleepers), /^5 /)
      const before = sleepers()
      await server.kill()
      assert.deepEqual(sleepers(), before)
      await server.restart()
      const restarts = 'jsonpath={.items[*].status.containerStatuses[0].restartCount}'
      await eventually(() => kubectl('get', 'pods', '-o', restarts), /^1 1 1 1$/)
      await eventually(countOf(sleepers), /^5 /)
      assert.deepEqual(
        sleepers().filter(pid => before.includes(pid)),
        [],
      )
    }
    assert.deepEqual(sleepers(), [])
  })
})
