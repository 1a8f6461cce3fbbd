import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ensureComponent } from '../../tools/components/index.ts'
import { startReference } from '../../tools/reference/start-reference.ts'
import { type Access, readAccess } from './access.ts'
import { findServer } from './usage.ts'

/** A server to measure: how to reach it, and the processes whose time and memory are its own (none when it runs elsewhere). */
export interface Server extends AsyncDisposable {
  readonly access: Access
  readonly pids: readonly number[]
  /** From the start of its programs until /readyz was ok; 0 for one that ran already. */
  readonly startMilliseconds: number
}

const command = fileURLToPath(new URL('../../packages/coxswain/bin/coxswain.js', import.meta.url))

/** With more than one core, servers have the first and the load generator the rest. */
export const isPinned: boolean = availableParallelism() > 1

/** Puts a process and its threads on the servers' core. */
function pin(pid: number): Promise<void> {
  if (!isPinned) return Promise.resolve()
  return new Promise(resolve => {
    spawn('taskset', ['-a', '-p', '-c', '0', String(pid)], { stdio: 'ignore' })
      .on('exit', () => resolve())
      .on('error', () => resolve())
  })
}

export async function attachServer(kubeconfig: string): Promise<Server> {
  const access = await readAccess(kubeconfig)
  const isHere = access.host === '127.0.0.1' || access.host === 'localhost'
  const pids = isHere ? findServer(access.port) : []
  return { access, pids, startMilliseconds: 0, [Symbol.asyncDispose]: async () => {} }
}

/** `coxswain up --controllers none`, on an empty data directory unless one is given. */
export async function startOurs({ dataDir }: { readonly dataDir?: string } = {}): Promise<Server> {
  await using stack = new AsyncDisposableStack()
  const folder = dataDir ?? (await mkdtemp(join(tmpdir(), 'coxswain-bench-')))
  if (dataDir === undefined) stack.defer(() => rm(folder, { recursive: true, force: true }))
  const options = ['--port', '0', '--data-dir', folder, '--controllers', 'none']
  const started = performance.now()
  const child = spawn(process.execPath, [command, 'up', ...options], { stdio: ['ignore', 'pipe', 'inherit'] })
  stack.defer(() => stop(child))
  const line = await readLine(child)
  const startMilliseconds = performance.now() - started
  await pin(child.pid!)
  const kubeconfig = /KUBECONFIG=(\S+)/.exec(line)?.[1]
  if (!kubeconfig) throw new Error(`coxswain said: ${line}`)
  const running = stack.move()
  return {
    access: await readAccess(kubeconfig),
    pids: [child.pid!],
    startMilliseconds,
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  }
}

/** A real kube-apiserver 1.36 with etcd 3.6, both empty. */
export async function startKubernetes(): Promise<Server> {
  await using stack = new AsyncDisposableStack()
  const folder = await mkdtemp(join(tmpdir(), 'coxswain-bench-'))
  stack.defer(() => rm(folder, { recursive: true, force: true }))
  const stopping = new AbortController()
  const options = {
    etcd: await ensureComponent('etcd-3.6'),
    apiserver: await ensureComponent('kube-apiserver-1.36'),
    folder,
    port: 0,
    signal: stopping.signal,
  }
  const started = performance.now()
  const reference = await startReference(options)
  stack.defer(async () => {
    stopping.abort()
    await reference[Symbol.asyncDispose]()
  })
  const startMilliseconds = performance.now() - started
  const access = await readAccess(reference.kubeconfig)
  const pids = findServer(access.port)
  await Promise.all(pids.map(pin))
  const running = stack.move()
  return { access, pids, startMilliseconds, [Symbol.asyncDispose]: () => running.disposeAsync() }
}

/** nginx with one worker that serves `body` at every path, over TLS with HTTP/2. */
export async function startNginx(body: Uint8Array, tls: { cert: string; key: string }): Promise<Server> {
  const program = await ensureComponent('nginx')
  await using stack = new AsyncDisposableStack()
  const folder = await mkdtemp(join(tmpdir(), 'coxswain-bench-'))
  stack.defer(() => rm(folder, { recursive: true, force: true }))
  const port = await freePort()
  await writeFile(join(folder, 'cert.pem'), tls.cert)
  await writeFile(join(folder, 'key.pem'), tls.key)
  await writeFile(join(folder, 'body.json'), body)
  const settings = `
daemon off; worker_processes 1; pid ${folder}/pid; error_log ${folder}/error.log; user root;
events { worker_connections 1024; }
http {
  access_log off; sendfile on; tcp_nodelay on; keepalive_requests 100000000; open_file_cache max=10;
  types { application/json json; }
  client_body_temp_path ${folder}; proxy_temp_path ${folder}; fastcgi_temp_path ${folder}; uwsgi_temp_path ${folder}; scgi_temp_path ${folder};
  server {
    listen 127.0.0.1:${port} ssl http2;
    ssl_certificate ${folder}/cert.pem; ssl_certificate_key ${folder}/key.pem;
    root ${folder};
  }
}`
  await writeFile(join(folder, 'nginx.conf'), settings)
  const started = performance.now()
  const child = spawn(program, ['-p', folder, '-c', join(folder, 'nginx.conf')], { stdio: 'ignore' })
  stack.defer(() => stop(child))
  const access: Access = { host: '127.0.0.1', port }
  let pids: readonly number[] = []
  while (pids.length === 0) {
    if (child.exitCode !== null) throw new Error('nginx did not start')
    await new Promise(resolve => setTimeout(resolve, 50))
    pids = await workersOf(child.pid!)
  }
  await Promise.all(pids.map(pin))
  const running = stack.move()
  return {
    access,
    pids,
    startMilliseconds: performance.now() - started,
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  }
}

async function workersOf(pid: number): Promise<readonly number[]> {
  const children = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => '')
  return children.split(' ').filter(Boolean).map(Number)
}

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  await new Promise(resolve => server.close(resolve))
  return port
}

function readLine(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = ''
    const timer = setTimeout(() => reject(new Error('the server is not ready after a minute')), 60_000)
    timer.unref()
    child.stdout!.setEncoding('utf8').on('data', chunk => {
      text += chunk
      if (text.includes('\n')) resolve(text)
    })
    child.on('error', reject)
    child.on('exit', code => reject(new Error(`the server ended with code ${code} before it was ready`)))
  })
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exited = new Promise<void>(resolve => child.on('exit', () => resolve()))
  child.kill('SIGTERM')
  await exited
}
