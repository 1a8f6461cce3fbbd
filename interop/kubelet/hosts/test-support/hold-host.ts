/** Starts a host with a process in it, says where it is, and waits to be ended: for the test of the janitor. */
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { componentPath } from '../../../../tools/components/index.ts'
import { startHost } from '../host.ts'
import { startJanitor } from '../janitor.ts'

const folder = mkdtempSync(join(tmpdir(), 'coxswain-kubelet-'))
await using janitor = startJanitor()
janitor.remember('folder', folder)
const host = await startHost({
  name: 'held',
  folder: join(folder, 'held'),
  janitor,
  programs: componentPath('node-tree'),
})
const inner = host.spawn('sleep', ['1000'], { stdio: 'ignore' })
await host.run('sh', ['-c', 'mkdir /sys/fs/cgroup/memory/pods /run/volume; mount -t tmpfs tmpfs /run/volume'])
console.log(JSON.stringify({ folder, pids: [host.pid, inner.pid] }))
process.once('SIGUSR2', () => release())
const { promise, resolve: release } = Promise.withResolvers<void>()
const alive = setInterval(() => {}, 1_000)
await promise
clearInterval(alive)
