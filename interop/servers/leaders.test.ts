import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { EtcdCluster } from '../storage/etcd-cluster.ts'
import { type RunningServer, startServer } from '../support/coxswain.ts'
import { Api, type Item } from './api.ts'

const leases = '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases'
const deployments = '/apis/apps/v1/namespaces/default/deployments'
const names = ['kube-controller-manager', 'kube-scheduler']

type Lease = Item & { readonly spec: { readonly holderIdentity: string; readonly leaseTransitions: number } }
type Deployment = Item & { readonly status?: { readonly updatedReplicas?: number } }

/** The first state of an object that is as it should be. */
async function until<T extends Item>(
  api: Api,
  collection: string,
  name: string,
  isRight: (object: T) => boolean,
) {
  const target = `${collection}?watch=1&fieldSelector=metadata.name%3D${name}`
  const signal = AbortSignal.timeout(60_000)
  for await (const { object } of api.watch(target, signal)) if (isRight(object as T)) return object as T
  throw new Error(`the watch of ${name} has ended`)
}

const holders = (api: Api, isRight: (lease: Lease, index: number) => boolean) =>
  Promise.all(names.map((name, index) => until<Lease>(api, leases, name, lease => isRight(lease, index))))

async function deploy(api: Api, name: string): Promise<void> {
  const labels = { app: name }
  const containers = [{ name: 'c', image: 'i' }]
  const template = { metadata: { labels }, spec: { containers } }
  const spec = { replicas: 2, selector: { matchLabels: labels }, template }
  const { status } = await api.send('POST', deployments, { metadata: { name }, spec })
  assert.equal(status, 201)
  await until<Deployment>(api, deployments, name, object => object.status?.updatedReplicas === 2)
}

describe('controllers of two servers on one etcd', () => {
  const stack = new AsyncDisposableStack()
  const servers: RunningServer[] = []
  const apis: Api[] = []

  before(async () => {
    const cluster = stack.use(await EtcdCluster.start({ version: 'etcd-3.6' }))
    const options = ['--storage', 'etcd', '--etcd-servers', cluster.endpoints.join(), '--nodes', '0']
    const periods = [
      ['lease-duration', '8s'],
      ['renew-deadline', '6s'],
      ['retry-period', '500ms'],
    ].flatMap(([name, value]) => [`--leader-elect-${name}`, value!])
    for (let count = 0; count < 2; count++) {
      const server = stack.use(await startServer(...options, ...periods))
      servers.push(server)
      apis.push(stack.use(new Api(server.kubeconfig)))
      await holders(apis[0]!, ({ spec }) => spec.holderIdentity !== '')
    }
  })
  after(() => stack.disposeAsync())

  it('run in one of them, and in the other when that one is killed or stopped', async () => {
    const [first, second] = apis as [Api, Api]
    await deploy(second, 'before')
    const led = await holders(second, ({ spec }) => spec.holderIdentity !== '')
    const { items = [] } = (await second.send('GET', '/api/v1/namespaces/default/pods')).body
    assert.equal(items.length, 2, 'two sets of controllers would have made more, or made and deleted')

    await servers[0]!.kill()
    const isOther = ({ spec }: Lease, index: number) =>
      spec.holderIdentity !== led[index]!.spec.holderIdentity
    const taken = await holders(second, isOther)
    assert.deepEqual(
      taken.map(({ spec }) => spec.leaseTransitions),
      [1, 1],
    )
    await deploy(second, 'after')

    await servers[0]!.restart()
    await deploy(first, 'together')
    const still = await holders(first, ({ spec }) => spec.holderIdentity !== '')
    assert.deepEqual(
      still.map(({ spec }) => spec.holderIdentity),
      taken.map(({ spec }) => spec.holderIdentity),
    )
    // One that stops releases its leases: no other has to wait until they expire.
    await servers[1]![Symbol.asyncDispose]()
    await deploy(first, 'alone')
  })
})
