import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { runOrFail } from '../../tools/components/process.ts'
import { eventually } from '../support/eventually.ts'

const program = fileURLToPath(new URL('hosts/test-support/hold-host.ts', import.meta.url))

interface Held {
  readonly child: ChildProcess
  readonly folder: string
  readonly pids: readonly number[]
}

async function hold(): Promise<Held> {
  const child = spawn(process.execPath, [program], { stdio: ['ignore', 'pipe', 'inherit'] })
  const [line] = await once(child.stdout!, 'data')
  return { child, ...(JSON.parse(String(line)) as Omit<Held, 'child'>) }
}

/** Everything that this machine still has of it. */
async function leftovers({ child, folder, pids }: Held): Promise<string[]> {
  const cgroups = await runOrFail('find', [
    '/sys/fs/cgroup',
    '-type',
    'd',
    '-name',
    `coxswain-${child.pid}-*`,
  ])
  return [
    ...pids.filter(pid => existsSync(`/proc/${pid}`)).map(pid => `process ${pid}`),
    ...cgroups.split('\n').filter(line => line !== ''),
    ...(existsSync(folder) ? [folder] : []),
    ...readFileSync('/proc/self/mountinfo', 'utf8')
      .split('\n')
      .filter(line => line.includes(folder)),
  ]
}

describe('hosts in namespaces of their own', () => {
  const ways = {
    SIGINT: 'SIGINT',
    SIGTERM: 'SIGTERM',
    SIGKILL: 'SIGKILL',
    'their disposal': 'SIGUSR2',
  } as const
  for (const [way, signal] of Object.entries(ways))
    it(`leave no process, cgroup, mount or file behind after ${way}`, async () => {
      const held = await hold()
      assert.equal((await leftovers(held)).filter(each => each.startsWith('process')).length, 2, 'it runs')
      const ended = once(held.child, 'exit')
      held.child.kill(signal)
      await ended
      await eventually(`nothing is left after ${way}`, async () => {
        const left = await leftovers(held)
        assert.deepEqual(left, [])
        return true
      })
    })
})
