/** The tasks of the benchmark that @kubernetes/client-node can do: `client-node.ts TASK NAMESPACE COUNT`, with `--expose-gc`. */
import { importPeer } from '../peers.ts'
import { clientNodeVersion } from './peer-versions.ts'
import { liveBytes, report, residentBytes, startSignal, startStopwatch } from './task.ts'

/** What is used of it. */
interface ClientNode {
  readonly KubeConfig: new () => KubeConfig
  readonly CoreV1Api: unknown
  makeInformer(config: KubeConfig, path: string, list: () => Promise<unknown>): PeerInformer
}

interface KubeConfig {
  loadFromFile(path: string): void
  makeApiClient(api: unknown): { listNamespacedPod(query: { namespace: string }): Promise<unknown> }
}

interface PeerInformer {
  on(verb: 'add' | 'update', callback: () => void): void
  on(verb: 'error', callback: (error: unknown) => void): void
  /** Resolves when the list is in the cache and the watch has begun. */
  start(): Promise<void>
  list(): readonly unknown[]
}

const [task, namespace = '', number] = process.argv.slice(2)
const count = Number(number)
const { KubeConfig, CoreV1Api, makeInformer } = (await importPeer(
  '@kubernetes/client-node',
  clientNodeVersion,
)) as ClientNode
const config = new KubeConfig()
config.loadFromFile(process.env.KUBECONFIG!)
const api = config.makeApiClient(CoreV1Api)
const informer = makeInformer(config, `/api/v1/namespaces/${namespace}/pods`, () =>
  api.listNamespacedPod({ namespace }),
)
const finished = Promise.withResolvers<void>()
let added = 0
let updated = 0
informer.on('error', error => finished.reject(error))
informer.on('add', () => {
  if (++added === count && task === 'sync') finished.resolve()
})
informer.on('update', () => {
  if (++updated === count && task === 'events') finished.resolve()
})

if (task === 'sync') {
  const heapBefore = liveBytes()
  const residentBefore = residentBytes()
  const stop = startStopwatch()
  void informer.start()
  await finished.promise
  const result = stop(informer.list().length)
  report({ ...result, heap: liveBytes() - heapBefore, resident: residentBytes() - residentBefore })
} else {
  await informer.start()
  await startSignal()
  const stop = startStopwatch()
  await finished.promise
  report(stop(count))
}
process.exit(0)
