import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createEtcdStore } from '@coxswain/storage/etcd'
import { type ComponentName, ensureComponent } from '../../tools/components/index.ts'

export type EtcdVersion = Extract<ComponentName, `etcd-${string}`>

interface Member {
  readonly name: string
  readonly client: string
  readonly args: readonly string[]
  process: ChildProcess | undefined
}

export interface EtcdClusterOptions {
  readonly version: EtcdVersion
  /** @default 1 */
  readonly size?: number
  /** More arguments for every member. */
  readonly args?: readonly string[]
  /** @default 'http' */
  readonly clientScheme?: 'http' | 'https'
}

/** Real etcd members on loopback, with data that goes with them. */
export class EtcdCluster implements AsyncDisposable {
  readonly #program: string
  readonly #folder: string
  readonly #members: readonly Member[]

  private constructor(program: string, folder: string, members: readonly Member[]) {
    this.#program = program
    this.#folder = folder
    this.#members = members
  }

  static async start(options: EtcdClusterOptions): Promise<EtcdCluster> {
    const { version, size = 1, args = [], clientScheme = 'http' } = options
    const program = await ensureComponent(version)
    const folder = await mkdtemp(join(tmpdir(), 'coxswain-etcd-'))
    const ports = await freePorts(2 * size)
    const peers = Array.from({ length: size }, (_, i) => `http://127.0.0.1:${ports[size + i]}`)
    const initial = peers.map((peer, i) => `m${i}=${peer}`).join(',')
    const members = peers.map((peer, i): Member => {
      const client = `${clientScheme}://127.0.0.1:${ports[i]}`
      const own = ['--name', `m${i}`, '--data-dir', join(folder, `m${i}`), '--initial-cluster', initial]
      const urls = ['--listen-client-urls', client, '--advertise-client-urls', client]
      const peerUrls = ['--listen-peer-urls', peer, '--initial-advertise-peer-urls', peer]
      return { name: `m${i}`, client, args: [...own, ...urls, ...peerUrls, ...args], process: undefined }
    })
    const cluster = new EtcdCluster(program, folder, members)
    for (const index of members.keys()) cluster.launch(index)
    if (clientScheme === 'http') await cluster.ready()
    return cluster
  }

  get endpoints(): string[] {
    return this.#members.map(member => member.client)
  }

  get size(): number {
    return this.#members.length
  }

  /** Starts a member that is not running. */
  launch(index: number): void {
    const member = this.#members[index]!
    const env = { ...process.env, ETCD_UNSUPPORTED_ARCH: process.arch }
    member.process = spawn(this.#program, [...member.args, '--logger', 'zap', '--log-level', 'error'], {
      stdio: 'ignore',
      env,
    })
  }

  /** Resolves when a write goes through. */
  async ready(): Promise<void> {
    for (const endpoint of this.endpoints) {
      await using store = createEtcdStore({ endpoints: [endpoint], prefix: '/ready', requestTimeout: 30_000 })
      for (let tries = 0; ; tries++) {
        try {
          await store.transact({ operations: [{ type: 'put', key: '/x', value: new Uint8Array(1) }] })
          break
        } catch (error) {
          if (tries === 20) throw error
        }
      }
    }
  }

  /** kill -9; the data stays. */
  async kill(index: number): Promise<void> {
    const child = this.#members[index]!.process
    if (!child || child.exitCode !== null || child.signalCode !== null) return
    const ended = new Promise(resolve => child.once('exit', resolve))
    child.kill('SIGCONT')
    child.kill('SIGKILL')
    await ended
  }

  pause(index: number): void {
    this.#members[index]!.process?.kill('SIGSTOP')
  }

  resume(index: number): void {
    this.#members[index]!.process?.kill('SIGCONT')
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const index of this.#members.keys()) await this.kill(index)
    await rm(this.#folder, { recursive: true, force: true })
  }
}

export async function freePorts(count: number): Promise<number[]> {
  const servers = await Promise.all(
    Array.from(
      { length: count },
      () =>
        new Promise<ReturnType<typeof createServer>>(resolve => {
          const server = createServer()
          server.listen(0, '127.0.0.1', () => resolve(server))
        }),
    ),
  )
  const ports = servers.map(server => (server.address() as { port: number }).port)
  await Promise.all(servers.map(server => new Promise(resolve => server.close(resolve))))
  return ports
}
