/**
 * `npm run reference -- up [--port N]`: a real kube-apiserver 1.36 on a real etcd 3.6, to compare ours with. Prints the URL and
 * the KUBECONFIG line when /readyz is ok and stays until SIGINT or SIGTERM; keeps nothing. The first run builds both programs
 * through the Go module proxy, which takes ten minutes or so.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { ensureComponent } from './components/index.ts'
import { startReference } from './reference/start-reference.ts'

const { positionals, values } = parseArgs({ allowPositionals: true, options: { port: { type: 'string' } } })
if (positionals.join() !== 'up' || !/^\d*$/.test(values.port ?? '')) {
  console.error('usage: npm run reference -- up [--port N]')
  process.exit(2)
}

const log = (line: string) => console.error(line)
const programs = {
  etcd: await ensureComponent('etcd-3.6', log),
  apiserver: await ensureComponent('kube-apiserver-1.36', log),
}
const folder = await mkdtemp(join(tmpdir(), 'coxswain-reference-'))
const controller = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => controller.abort())
try {
  await using reference = await startReference({
    ...programs,
    folder,
    port: Number(values.port ?? 0),
    signal: controller.signal,
  })
  console.log(`${reference.url} KUBECONFIG=${reference.kubeconfig}`)
  await reference.stopped
} catch (error) {
  if (!controller.signal.aborted) {
    console.error(error instanceof Error ? error.message : error)
    process.exitCode = 1
  }
} finally {
  await rm(folder, { recursive: true, force: true })
}
