import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createKubeconfig, writeKubeconfig } from '@coxswain/client/kubeconfig'
import { createRealEnv, type Logger, type VirtualWorld } from '@coxswain/kit'
import type { Handler } from '@coxswain/wire'
import { createCertificate, createWebSocketUpgrade, serve } from '@coxswain/wire/node'

export interface ServeClusterOptions {
  readonly handler: Handler
  readonly log: Logger
  /** Driven by incoming requests while nothing else drives it. */
  readonly world?: VirtualWorld
}

export interface ServedCluster extends AsyncDisposable {
  readonly kubeconfig: string
  /** Resolves when nothing that came from outside drives the world. */
  idle(): Promise<void>
}

const day = 24 * 3_600_000

/** Serves a cluster of this process on a free port of 127.0.0.1, with certificates that live as long as the test. */
export async function serveCluster(options: ServeClusterOptions): Promise<ServedCluster> {
  const driver = options.world && new Driver(options.world, options.handler)
  const handler = driver?.handler ?? options.handler
  const { ca, server, admin } = createPki(options.world?.clock.now() ?? 0)
  const listener = await serve({
    handler,
    tls: { cert: server.certificate, key: server.key, clientCa: ca.certificate },
    log: options.log,
    upgrade: createWebSocketUpgrade({ handler, log: options.log }),
  })
  const folder = mkdtempSync(join(tmpdir(), 'coxswain-test-'))
  const kubeconfig = join(folder, 'kubeconfig')
  const entry = { cluster: 'test', user: 'admin', server: listener.url, ca: ca.certificate }
  await writeKubeconfig(kubeconfig, createKubeconfig({ ...entry, cert: admin.certificate, key: admin.key }))
  return {
    kubeconfig,
    idle: async () => driver?.idle,
    async [Symbol.asyncDispose]() {
      await listener.close({ grace: 0 })
      await driver?.idle
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** TLS looks at the real clock and the API server at the cluster's: the certificates are valid on both. */
function createPki(clusterTime: number) {
  const { clock, random } = createRealEnv()
  const now = clock.now()
  const validity = { notBefore: now - day, notAfter: Math.max(now, clusterTime) + 365 * day }
  const ca = createCertificate({ subject: { commonName: 'test-ca' }, usages: ['ca'], ...validity }, random)
  const hosts = ['127.0.0.1', 'localhost']
  const server = createCertificate(
    { subject: { commonName: 'kube-apiserver' }, usages: ['server'], hosts, ...validity },
    random,
    ca,
  )
  const subject = { commonName: 'kubernetes-admin', organizations: ['system:masters'] }
  const admin = createCertificate({ subject, usages: ['client'], ...validity }, random, ca)
  return { ca, server, admin }
}

/** How long to wait while the world is driven elsewhere, before looking again. */
const turnPeriod = 2
/** How long a request waits at most for what an earlier one has set going. */
const patience = 200

/**
 * A request from outside makes the world go on until it is answered and what followed has happened. Requests take turns;
 * while the test itself drives the world, that carries them along.
 */
class Driver {
  /** Resolves when everything that requests have set going is over. */
  idle: Promise<void> = Promise.resolve()
  readonly #world: VirtualWorld
  readonly #inner: Handler

  constructor(world: VirtualWorld, handler: Handler) {
    this.#world = world
    this.#inner = handler
  }

  readonly handler: Handler = async request => {
    await Promise.race([this.idle, pause(patience)])
    const answer = this.#inner(request)
    const driving = this.#drive(answer, request.signal)
    this.idle = Promise.all([this.idle, driving]).then(() => {})
    return await answer
  }

  async #drive(answer: Promise<unknown>, signal: AbortSignal): Promise<void> {
    let settled = false
    const mark = () => {
      settled = true
    }
    answer.then(mark, mark)
    while (!settled && !signal.aborted) await this.#world.run(answer).catch(() => pause(turnPeriod))
    await this.#world.settle().catch(() => {})
  }
}

function pause(ms: number): Promise<void> {
  return new Promise(resolve => setTimeout(resolve, ms).unref())
}
