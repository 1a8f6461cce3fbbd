import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { Agent, get } from 'node:https'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { startScheduler } from './components.ts'

/** A real kube-scheduler 1.36 that does what a configuration says, without throttling. */
export interface RealScheduler extends AsyncDisposable {
  /** How often it has looked for a node so far, whatever came of it. */
  countTries(): Promise<number>
  /** All it has logged, line by line. */
  readonly log: readonly string[]
  /** Rejects with its last words when it ends by itself. */
  readonly crashed: Promise<never>
}

/** Resolves when it is ready. `configuration`: fields of a KubeSchedulerConfiguration. */
export async function startRealScheduler(
  kubeconfig: string,
  configuration: object = {},
  moreFlags: readonly string[] = [],
): Promise<RealScheduler> {
  await using stack = new AsyncDisposableStack()
  const directory = mkdtempSync(join(tmpdir(), 'kube-scheduler-'))
  stack.defer(() => rmSync(directory, { recursive: true, force: true }))
  const file = join(directory, 'config.json')
  const whole = {
    apiVersion: 'kubescheduler.config.k8s.io/v1',
    kind: 'KubeSchedulerConfiguration',
    ...configuration,
    clientConnection: { kubeconfig, qps: 100_000, burst: 100_000 },
    leaderElection: { leaderElect: false },
  }
  writeFileSync(file, JSON.stringify(whole))
  const port = await freePort()
  const flags = [
    `--config=${file}`,
    `--secure-port=${port}`,
    `--cert-dir=${directory}`,
    '--authorization-always-allow-paths=/readyz,/metrics',
    ...moreFlags,
  ]
  const component = stack.use(startScheduler({ kubeconfig }, { flags }))
  const agent = new Agent({ rejectUnauthorized: false, keepAlive: true })
  stack.defer(() => agent.destroy())
  const read = (path: string) => readPage(`https://127.0.0.1:${port}${path}`, agent)
  const isReady = async () => (await read('/readyz').catch(() => ({ status: 0 }))).status === 200
  while (!(await Promise.race([isReady(), component.crashed]))) await sleep(100)
  const running = stack.move()
  return {
    log: component.log,
    crashed: component.crashed,
    countTries: async () => {
      const { text } = await read('/metrics')
      const lines = text.split('\n').filter(line => line.startsWith('scheduler_schedule_attempts_total{'))
      return lines.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0)
    },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  }
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.on('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => resolve(typeof address === 'object' && address ? address.port : 0))
    })
  })
}

function readPage(url: string, agent: Agent): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    get(url, { agent }, response => {
      let text = ''
      response.on('data', chunk => {
        text += chunk
      })
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text }))
    }).on('error', reject)
  })
}
