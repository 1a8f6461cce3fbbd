/** Only of ours: the local cloud, the local-path provisioner and the nodes are its own. */
import { after, before, describe, it } from 'node:test'
import { type RunningServer, startServer } from '../../support/coxswain.ts'
import { createSession, manifests, type Session } from '../session.ts'

const taint = 'node.cloudprovider.kubernetes.io/uninitialized'

describe('a control plane as it comes', () => {
  let server: RunningServer
  let session: Session
  before(async () => {
    server = await startServer('--storage', 'memory', '--allocate-node-cidrs')
    session = await createSession(server, '1.36', 'cloud')
  })
  after(async () => {
    session[Symbol.dispose]()
    await server[Symbol.asyncDispose]()
  })

  it('gives services of type LoadBalancer an address, and shows what is behind it', async () => {
    const { ok, until } = session
    await ok('create service loadbalancer web --tcp=80:8080', 'service/web created')
    await ok(
      "wait service/web --for=jsonpath='{.status.loadBalancer.ingress[0].ip}'=127.0.0.1 --timeout=120s",
      /condition met/,
    )
    await ok('get service web', /LoadBalancer +\S+ +127\.0\.0\.1 +80:3\d{4}\/TCP/)
    await until('describe service web', /EnsuredLoadBalancer +\S+ +service-controller/)
    await ok('get configmap cloud-local -n kube-system -o yaml', /80\/TCP\s+at 127\.0\.0\.1:3\d{4}/)
    await ok('delete service web', /service "web" deleted/)
    const balancers = await ok('get configmap cloud-local -n kube-system -o yaml')
    if (balancers.includes('load-balancer.')) throw new Error(balancers)
  })

  it('gives claims that name no class folders of this machine', async () => {
    const { ok, until } = session
    await until('get storageclass', /^standard \(default\) +coxswain\.dev\/local-path/m)
    await ok('create serviceaccount keeper', 'serviceaccount/keeper created')
    await ok(`apply -f ${manifests}/claim.yaml`, /pod\/keeper created/)
    await ok('wait pod/keeper --for=condition=Ready --timeout=120s', /condition met/)
    await ok('get pvc data', /Bound .+ standard/)
  })

  it('gives nodes their ranges, and tells those that ask what they are', async () => {
    const { ok, until } = session
    await ok("wait node/node-1 --for=jsonpath='{.spec.podCIDR}' --timeout=120s", /condition met/)
    await ok("get node node-1 -o jsonpath='{.spec.podCIDRs}'", /^\["10\.244\.\d+\.0\/24"\]$/)
    await ok(`taint node node-1 ${taint}=true:NoSchedule`, 'node/node-1 tainted')
    await ok(
      "wait node/node-1 --for=jsonpath='{.spec.providerID}'=local://node-1 --timeout=120s",
      /condition met/,
    )
    await until('get node node-1 -L topology.kubernetes.io/zone', /local-1/)
    await until("get node node-1 -o jsonpath='{.spec.taints}'", '')
  })

  it('says who controls and schedules', async () => {
    const { until } = session
    await until(
      'get lease -n kube-system',
      /kube-controller-manager +\S+_coxswain/,
      /kube-scheduler +\S+_coxswain/,
    )
    await until(
      'get events -n kube-system',
      /LeaderElection +lease\/kube-scheduler +\S+_coxswain became leader/,
    )
  })
})
