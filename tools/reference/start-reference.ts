import { type ChildProcess, spawn } from 'node:child_process'
import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { get } from 'node:https'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

export interface ReferenceOptions {
  /** The programs. */
  readonly etcd: string
  readonly apiserver: string
  /** For data, certificates and the kubeconfig; the caller removes it. */
  readonly folder: string
  /** 0 picks a free one. */
  readonly port: number
  readonly signal: AbortSignal
}

export interface Reference extends AsyncDisposable {
  readonly url: string
  readonly kubeconfig: string
  /** Resolves when the signal aborts; rejects with what was logged when one of the two programs ends by itself. */
  readonly stopped: Promise<void>
}

const readyWithin = 120_000
const lastWords = 4_000

/** Resolves when /readyz is ok. */
export async function startReference(options: ReferenceOptions): Promise<Reference> {
  const { folder, signal } = options
  const [clientPort, peerPort, freePort] = await freePorts(3)
  const port = options.port || freePort!
  const token = randomBytes(16).toString('hex')
  const keys = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  })
  await writeFile(join(folder, 'tokens.csv'), `${token},kubernetes-admin,admin,"system:masters"\n`, {
    mode: 0o600,
  })
  await writeFile(join(folder, 'sa.key'), keys.privateKey, { mode: 0o600 })
  await writeFile(join(folder, 'sa.pub'), keys.publicKey)

  await using stack = new AsyncDisposableStack()
  const { promise: crashed, reject: onCrash } = Promise.withResolvers<never>()
  const aborted = new Promise<void>(resolve =>
    signal.addEventListener('abort', () => resolve(), { once: true }),
  )
  const stopped = Promise.race([aborted, crashed])
  stopped.catch(() => {})
  const startProgram = (program: string, args: readonly string[]) => {
    const child = startChild(program, args, onCrash)
    stack.defer(() => stopChild(child))
  }

  startProgram(options.etcd, [
    `--data-dir=${join(folder, 'etcd')}`,
    `--listen-client-urls=http://127.0.0.1:${clientPort}`,
    `--advertise-client-urls=http://127.0.0.1:${clientPort}`,
    `--listen-peer-urls=http://127.0.0.1:${peerPort}`,
    `--initial-advertise-peer-urls=http://127.0.0.1:${peerPort}`,
    `--initial-cluster=default=http://127.0.0.1:${peerPort}`,
    '--log-level=error',
  ])
  startProgram(options.apiserver, [
    `--etcd-servers=http://127.0.0.1:${clientPort}`,
    `--cert-dir=${folder}`,
    '--bind-address=127.0.0.1',
    '--advertise-address=127.0.0.1',
    `--secure-port=${port}`,
    `--token-auth-file=${join(folder, 'tokens.csv')}`,
    '--authorization-mode=RBAC',
    '--service-account-issuer=https://kubernetes.default.svc',
    `--service-account-key-file=${join(folder, 'sa.pub')}`,
    `--service-account-signing-key-file=${join(folder, 'sa.key')}`,
    '--service-cluster-ip-range=10.0.0.0/24',
  ])
  await Promise.race([waitUntilReady(port, token, signal), crashed])

  const kubeconfig = join(folder, 'kubeconfig')
  const ca = await readFile(join(folder, 'apiserver.crt'))
  const url = `https://127.0.0.1:${port}`
  await writeFile(kubeconfig, formatKubeconfig(url, ca.toString('base64'), token), { mode: 0o600 })
  const running = stack.move()
  return { url, kubeconfig, stopped, [Symbol.asyncDispose]: () => running.disposeAsync() }
}

function startChild(program: string, args: readonly string[], onCrash: (error: Error) => void): ChildProcess {
  const child = spawn(program, args, { stdio: ['ignore', 'ignore', 'pipe'] })
  let said = ''
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    said = (said + chunk).slice(-lastWords)
  })
  child.on('error', onCrash)
  child.on('exit', code => onCrash(new Error(`${program} ended with code ${code}\n${said}`)))
  return child
}

function stopChild(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve()
  const exited = new Promise<void>(resolve => child.on('exit', () => resolve()))
  child.kill('SIGTERM')
  return exited
}

async function waitUntilReady(port: number, token: string, signal: AbortSignal): Promise<void> {
  for (const deadline = performance.now() + readyWithin; performance.now() < deadline; ) {
    if ((await readiness(port, token)) === 200) return
    await sleep(200, undefined, { signal })
  }
  throw new Error(`kube-apiserver is not ready after ${readyWithin} ms`)
}

/** The certificate is not known before the server has made it; this asks a port of our own machine. */
function readiness(port: number, token: string): Promise<number | undefined> {
  return new Promise(resolve => {
    const headers = { authorization: `Bearer ${token}` }
    get({ host: '127.0.0.1', port, path: '/readyz', headers, rejectUnauthorized: false }, response => {
      response.resume()
      resolve(response.statusCode)
    }).on('error', () => resolve(undefined))
  })
}

function formatKubeconfig(url: string, ca: string, token: string): string {
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'reference',
    clusters: [{ name: 'reference', cluster: { server: url, 'certificate-authority-data': ca } }],
    users: [{ name: 'admin', user: { token } }],
    contexts: [{ name: 'reference', context: { cluster: 'reference', user: 'admin' } }],
  }
  return `${JSON.stringify(config, undefined, 2)}\n`
}

async function freePorts(count: number): Promise<number[]> {
  const servers = await Promise.all(
    Array.from({ length: count }, async () => {
      const server = createServer()
      await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
      return server
    }),
  )
  const ports = servers.map(server => (server.address() as { port: number }).port)
  await Promise.all(servers.map(server => new Promise(resolve => server.close(resolve))))
  return ports
}
