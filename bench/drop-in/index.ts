import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { ConfigMap } from '@coxswain/api/core/v1'
import { createClientFromKubeconfig } from '@coxswain/client/node'
import { createRealEnv } from '@coxswain/kit'
import { ensureComponent } from '../../tools/components/index.ts'
import { runOrFail } from '../../tools/components/process.ts'
import { startReference } from '../../tools/reference/start-reference.ts'
import type { BenchDefinition } from '../harness.ts'
import { residentMegabytes, startNode, startServer } from '../start/process.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
/** After the ready line: long enough for what a start leaves behind to be collected. */
const idleTime = 2_000

export const bench: BenchDefinition = {
  title: 'drop-in: the one-file executable, beside a bare `node -e 0` and beside etcd with kube-apiserver',
  async cases(stack) {
    const made = await mkdtemp(join(tmpdir(), 'cx-'))
    const folder = stack.adopt(made, path => rm(path, { recursive: true, force: true }))
    const executable = join(folder, 'coxswain')
    await runOrFail('npm', ['run', 'build:binary', '--', executable], { cwd: root })
    const programs = {
      etcd: await ensureComponent('etcd-3.6'),
      apiserver: await ensureComponent('kube-apiserver-1.36'),
    }
    const everything = (data: string) =>
      [executable, 'up', '--port=0', `--data-dir=${join(folder, data)}`] as const
    const alone = [...everything('alone'), '--storage=memory', '--controllers=none'] as const
    await startServer(everything('used'))
    await startServer(everything('full'), { use: () => fill(join(folder, 'full/kubeconfig')) })
    const bare = { name: 'node -e 0', measure: startNode }
    const ready = async (command: readonly [string, ...string[]]) => (await startServer(command)).ready
    const resident = async (command: readonly [string, ...string[]]) =>
      (await startServer(command, { idle: idleTime })).resident
    let count = 0
    const startReal = async () => {
      const started = performance.now()
      const own = join(folder, `reference-${count++}`)
      await mkdir(own)
      const { signal } = new AbortController()
      await using _reference = await startReference({ ...programs, folder: own, port: 0, signal })
      return performance.now() - started
    }
    return [
      {
        name: 'ready with everything on',
        unit: 'ms',
        measure: () => ready(everything('used')),
        reference: bare,
        goal: { of: 'ratio', atMost: 6 },
      },
      {
        name: 'ready on 1,000 objects',
        unit: 'ms',
        measure: () => ready(everything('full')),
        reference: bare,
        goal: { of: 'ratio', atMost: 6 },
      },
      {
        name: 'ready, in memory and without controllers',
        unit: 'ms',
        measure: () => ready(alone),
        reference: bare,
        goal: { of: 'ratio', atMost: 4 },
      },
      {
        name: 'ready without controllers, beside etcd with kube-apiserver',
        unit: 'ms',
        measure: () => ready([...everything('store'), '--controllers=none']),
        reference: { name: 'etcd + kube-apiserver', measure: startReal },
        goal: { of: 'ratio', atMost: 0.1 },
      },
      {
        name: 'resident when idle, everything on',
        unit: 'MB',
        measure: () => resident(everything('used')),
        goal: { of: 'value', atMost: 110 },
      },
      {
        name: 'resident when idle, in memory and without controllers',
        unit: 'MB',
        measure: () => resident(alone),
        goal: { of: 'value', atMost: 70 },
      },
      {
        name: 'ten clusters without controllers at once, resident together',
        unit: 'MB',
        measure: () => startTen(executable, folder),
        goal: { of: 'value', atMost: 1_000 },
      },
    ]
  },
}

async function fill(kubeconfig: string): Promise<void> {
  await using connected = await createClientFromKubeconfig({ env: createRealEnv(), kubeconfig })
  for (let at = 0; at < 1_000; at++)
    await connected.client.create(ConfigMap, {
      metadata: { namespace: 'default', name: `object-${at}` },
      data: { text: 'x'.repeat(1_000) },
    })
}

async function startTen(executable: string, folder: string): Promise<number> {
  const servers = Array.from({ length: 10 }, (_, at) => {
    const data = `--data-dir=${join(folder, `ten-${at}`)}`
    const args = ['up', '--port=0', '--controllers=none', '--storage=memory', data]
    return spawn(executable, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  })
  try {
    await Promise.all(servers.map(({ stdout }) => once(stdout!, 'data')))
    await sleep(idleTime)
    let total = 0
    for (const { pid } of servers) total += await residentMegabytes(pid!)
    return total
  } finally {
    for (const server of servers) server.kill('SIGTERM')
    await Promise.all(servers.map(server => once(server, 'exit')))
  }
}
