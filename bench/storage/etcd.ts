import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { copyFile, mkdir, rename, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createEtcdStore } from '@coxswain/storage/etcd'
import { goEnvironment } from '../../tools/components/go-program.ts'
import { cacheFolder, ensureComponent } from '../../tools/components/index.ts'
import { runOrFail } from '../../tools/components/process.ts'

/** etcd 3.6 on loopback, with its data in `folder`, and its own Go client as load generator. */
export interface EtcdReference extends AsyncDisposable {
  /** Durable puts of 2 KB a second. */
  put(concurrency: number, milliseconds: number): Promise<number>
}

export async function startEtcd(folder: string): Promise<EtcdReference> {
  const program = await ensureComponent('etcd-3.6')
  const load = await buildLoad()
  const [client, peer] = await Promise.all([freePort(), freePort()])
  const url = `http://127.0.0.1:${client}`
  const peerUrl = `http://127.0.0.1:${peer}`
  const urls = ['--listen-client-urls', url, '--advertise-client-urls', url, '--listen-peer-urls', peerUrl]
  const child: ChildProcess = spawn(
    program,
    [...urls, '--data-dir', folder, '--log-level', 'error', '--quota-backend-bytes', String(8 * 2 ** 30)],
    { stdio: 'ignore' },
  )
  const ended = new Promise(resolve => child.once('exit', resolve))
  await using store = createEtcdStore({ endpoints: [url], requestTimeout: 30_000 })
  await store.status()
  return {
    async put(concurrency, milliseconds) {
      return Number(await runOrFail(load, [url, String(concurrency), String(milliseconds)]))
    },
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL')
      await ended
    },
  }
}

async function buildLoad(): Promise<string> {
  const target = join(cacheFolder, 'bin', 'etcd-put')
  if (existsSync(target)) return target
  const folder = join(cacheFolder, 'build', 'etcd-put')
  await mkdir(folder, { recursive: true })
  await mkdir(join(cacheFolder, 'bin'), { recursive: true })
  await copyFile(fileURLToPath(new URL('./etcd-put/main.go', import.meta.url)), join(folder, 'main.go'))
  const module = 'module coxswain.invalid/etcd-put\n\ngo 1.24\n\nrequire go.etcd.io/etcd/client/v3 v3.6.16\n'
  await writeFile(join(folder, 'go.mod'), module)
  const build = ['build', '-mod=mod', '-o', `${target}.partial`, '.']
  await runOrFail('go', build, { cwd: folder, env: goEnvironment() })
  await rename(`${target}.partial`, target)
  return target
}

function freePort(): Promise<number> {
  return new Promise(resolve => {
    const server = createServer()
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number }
      server.close(() => resolve(port))
    })
  })
}
