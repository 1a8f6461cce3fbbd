import { setTimeout as sleep } from 'node:timers/promises'
import { Node, Pod, ServiceAccount } from '@coxswain/api/core/v1'
import type { Client } from '@coxswain/client'
import { createClientFromKubeconfig } from '@coxswain/client/node'
import { Informer, type ListerWatcher } from '@coxswain/informers'
import { createRealEnv } from '@coxswain/kit'
import { listerWatcherOf } from '@coxswain/runtime'
import { startScheduler } from '../../interop/control-plane/components.ts'
import { startServer } from '../../interop/support/coxswain.ts'
import type { BenchCase } from '../harness.ts'
import { startOurs } from './programs.ts'

const namespace = 'default'
const patience = 120_000
/** Requests of one kind at a time. */
const atOnce = 32

/** Pods onto nodes: how many of each. */
const sizes = [
  { pods: 500, nodes: 500 },
  { pods: 1_000, nodes: 100 },
] as const

async function inTurn(count: number, work: (index: number) => Promise<unknown>): Promise<void> {
  let next = 0
  const worker = async () => {
    while (next < count) await work(next++)
  }
  await Promise.all(Array.from({ length: Math.min(atOnce, count) }, worker))
}

async function addNode(client: Client, index: number): Promise<void> {
  const name = `node-${index}`
  const allocatable = { cpu: '32', memory: '64Gi', pods: '110' }
  const labels = {
    'kubernetes.io/hostname': name,
    'topology.kubernetes.io/zone': `zone-${index % 3}`,
  }
  const status = { capacity: allocatable, allocatable, conditions: [{ type: 'Ready', status: 'True' }] }
  await client.create(Node, { metadata: { name, labels } })
  await client.patch(Node, { name }, { status }, { type: 'merge', subresource: 'status' })
  await client.patch(Node, { name }, { spec: { taints: [] } }, { type: 'merge' })
}

async function addPod(client: Client, name: string): Promise<void> {
  const resources = { requests: { cpu: '100m', memory: '128Mi' } }
  await client.create(Pod, {
    metadata: { name, namespace, labels: { app: 'bench' } },
    spec: { terminationGracePeriodSeconds: 0, containers: [{ name: 'main', image: 'x', resources }] },
  })
}

/** The pods of a server, and how many of them have a node. */
class Pods implements AsyncDisposable {
  readonly #client: Client
  readonly #stop = new AbortController()
  readonly #running: Promise<void>
  readonly #bound = new Set<string>()
  #waiting: { readonly count: number; readonly resolve: () => void } | undefined

  constructor(client: Client) {
    this.#client = client
    const source = listerWatcherOf(client, Pod, {}) as ListerWatcher<Pod>
    const informer = new Informer<Pod>({ env: createRealEnv(), source })
    const see = ({ metadata, spec }: { metadata: { uid: string }; spec: { nodeName?: string } }) => {
      if (spec.nodeName) this.#bound.add(metadata.uid)
      this.#look()
    }
    informer.addHandler({
      onAdd: see,
      onUpdate: (_, pod) => see(pod),
      onDelete: ({ metadata }) => {
        this.#bound.delete(metadata.uid)
        this.#look()
      },
    })
    this.#running = informer.run(this.#stop.signal)
  }

  #look(): void {
    if (this.#waiting?.count !== this.#bound.size) return
    this.#waiting.resolve()
    this.#waiting = undefined
  }

  async #until(count: number): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const timer = setTimeout(() => reject(new Error(`${this.#bound.size} of ${count} pods`)), patience)
    this.#waiting = { count, resolve }
    this.#look()
    await promise.finally(() => clearTimeout(timer))
  }

  /** Pods a second, from the first that is created to the last that has a node. */
  async schedule(count: number): Promise<number> {
    const done = this.#until(count)
    const started = performance.now()
    await inTurn(count, index => addPod(this.#client, `pod-${index}`))
    await done
    return (count * 1_000) / (performance.now() - started)
  }

  async clear(): Promise<void> {
    const { items } = await this.#client.list(Pod, { namespace })
    const gone = this.#until(0)
    await inTurn(items.length, async index => {
      await this.#client.delete(Pod, { namespace, name: items[index]!.metadata.name })
    })
    await gone
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort()
    await this.#running
  }
}

async function prepare(client: Client, nodes: number): Promise<void> {
  await client.create(ServiceAccount, { metadata: { name: 'default', namespace } }).catch(() => {})
  await inTurn(nodes, index => addNode(client, index))
}

/** Our scheduler and kube-scheduler take turns on one server of ours on memory storage; no kubelet runs the Pods. */
export async function schedulingCases(stack: AsyncDisposableStack): Promise<readonly BenchCase[]> {
  const cases: BenchCase[] = []
  for (const size of sizes) {
    const { kubeconfig } = stack.use(await startServer('--storage', 'memory', '--controllers', 'none'))
    const env = createRealEnv()
    const { client } = await createClientFromKubeconfig({ env, kubeconfig, onWarning: () => {} })
    await prepare(client, size.nodes)
    const pods = stack.use(new Pods(client))
    const measure = async (start: () => AsyncDisposable | Promise<AsyncDisposable>) => {
      await using _scheduler = await start()
      await pods.schedule(20) // it has read everything, and found its speed
      await pods.clear()
      await sleep(500)
      const rate = await pods.schedule(size.pods)
      await pods.clear()
      return rate
    }
    const flags = ['--leader-elect=false', '--kube-api-qps=100000', '--kube-api-burst=100000']
    cases.push({
      name: `${size.pods} pods onto ${size.nodes} nodes`,
      unit: 'pods/s',
      measure: () => measure(() => startOurs(kubeconfig, 'scheduler')),
      reference: {
        name: 'kube-scheduler',
        measure: () => measure(() => startScheduler({ kubeconfig }, { flags, verbosity: 0 })),
      },
      goal: { of: 'ratio', atLeast: 1 },
    })
  }
  return cases
}
