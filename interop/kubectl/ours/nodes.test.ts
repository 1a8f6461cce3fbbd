import { after, before, describe, it } from 'node:test'
import { type RunningServer, startServer } from '../../support/coxswain.ts'
import { createClusterSession, manifests, type Session } from '../session.ts'

// Nodes that can be emptied need controllers and a scheduler, which the reference is run without.
describe('nodes with pods on them', () => {
  let server: RunningServer
  let session: Session
  before(async () => {
    server = await startServer('--nodes', '3')
    session = await createClusterSession(server, '1.36', 'nodes')
    await session.ok(`apply -f ${manifests}/crowded.yaml`)
    await session.ok('wait pods --all --for=condition=Ready --timeout=120s')
    await session.ok('rollout status deploy/crew --timeout=120s')
    await session.ok('rollout status ds/watch --timeout=120s')
  })
  after(async () => {
    await server[Symbol.asyncDispose]()
    session[Symbol.dispose]()
  })

  const on = (node: string) => `get pods -o name --field-selector=spec.nodeName=${node}`

  it('are closed to new pods, and opened', async () => {
    await session.ok('cordon node-2 node-3', 'node/node-2 cordoned\nnode/node-3 cordoned')
    await session.ok('get nodes', /^node-2 +Ready,SchedulingDisabled +<none> .* v1\.36\.\d/m)
    await session.ok('describe node node-2', /Unschedulable: +true/, /unschedulable:NoSchedule/)
    await session.ok('run here --image=busybox')
    await session.ok('wait pod/here --for=condition=Ready --timeout=120s')
    await session.ok('get pod here -o jsonpath={.spec.nodeName}', 'node-1')
    await session.ok('cordon node-1')
    await session.ok('run nowhere --image=busybox')
    await session.until(
      'describe pod nowhere',
      /FailedScheduling .*default-scheduler +0\/3 nodes are available: 3 node\(s\) were unschedulable/,
    )
    await session.ok('get pod nowhere', /0\/1 +Pending/)
    await session.ok('uncordon node-2')
    await session.ok('wait pod/nowhere --for=condition=Ready --timeout=120s')
    await session.ok('get pod nowhere -o jsonpath={.spec.nodeName}', 'node-2')
    await session.ok('uncordon node-1 node-3')
    await session.ok('delete pod here nowhere --now')
  })

  it('are not drained of what would be lost, unless one insists', async () => {
    await session.fails(
      'drain node-3',
      /cannot delete DaemonSet-managed Pods \(use --ignore-daemonsets to ignore\): nodes\/watch-/,
      /cannot delete Pods that declare no controller \(use --force to override\): nodes\/stowaway/,
    )
    await session.fails(
      'drain node-3 --ignore-daemonsets --force',
      /cannot delete Pods with local storage \(use --delete-emptydir-data to override\): nodes\/keg/,
    )
    const rest = '--ignore-daemonsets --force --delete-emptydir-data --pod-selector=app!=crew'
    await session.ok(
      `drain node-3 ${rest} --dry-run=server`,
      /evicting pod nodes\/stowaway \(server dry run\)\n/,
      /evicting pod nodes\/keg \(server dry run\)\n/,
      /node\/node-3 drained \(server dry run\)/,
    )
    await session.ok('get pod stowaway', /1\/1 +Running/)
    await session.ok('get nodes node-3', /SchedulingDisabled/) // closed by the drain that failed
  })

  it('are drained no faster than a budget allows', async () => {
    // Two of two have to be available: no Pod may be evicted until there is a third.
    const rest = '--ignore-daemonsets --force --delete-emptydir-data --pod-selector=app=crew --timeout=120s'
    const node = await session.ok('get pods -l app=crew -o jsonpath={.items[0].spec.nodeName}')
    await session.until('get pdb crew', /^crew +2 +N\/A +0 /m)
    await using draining = session.kubectl.follow('drain', node, ...rest.split(' '))
    await draining.until(/retry after 5s\): Cannot evict pod as it would violate the pod's disruption budget/)
    await session.ok('get nodes', new RegExp(`^${node} +Ready,SchedulingDisabled`, 'm'))
    await session.ok('scale deploy crew --replicas=3')
    await draining.until(/^node\/\S+ drained/)
    await draining.until(/^pod\/crew-\S+ evicted/)
    await session.until('get pdb crew', /^crew +2 +N\/A +1 /m)
    await session.ok(`get pods -l app=crew -o name --field-selector=spec.nodeName=${node}`, '')
    await session.ok(`uncordon ${node}`)
    await session.ok('rollout status deploy/crew --timeout=120s')
  })

  it('are drained of everything with --disable-eviction, whatever the budget', async () => {
    await session.ok('patch pdb crew -p {"spec":{"minAvailable":"100%"}}')
    await session.ok(
      'drain node-3 --ignore-daemonsets --force --delete-emptydir-data --disable-eviction --timeout=120s',
      /pod\/stowaway deleted/,
      /node\/node-3 drained/,
    )
    await session.ok(on('node-3'), /^pod\/watch-\w+\s*$/)
    await session.ok('uncordon node-3')
    await session.ok('rollout status deploy/crew --timeout=120s')
  })

  it('keep pods away or drive them out by taints', async () => {
    await session.ok('taint nodes node-1 wet=yes:NoSchedule', 'node/node-1 tainted')
    await session.ok('taint nodes node-2 wet=yes:NoExecute', 'node/node-2 tainted')
    await session.until(on('node-2'), '')
    await session.ok(on('node-1'), /watch/) // who was there may stay
    await session.until(
      'get events',
      /TaintManagerEviction +pod\/crew-\S+ +Marking for deletion Pod nodes\/crew-/,
    )
    await session.ok('rollout status deploy/crew --timeout=120s')
    await session.until('get ds watch', /^watch +1 +1 +1 /m) // node-1 has one that would not be put there now
    await session.ok(
      'run tolerant --image=busybox --overrides={"spec":{"nodeName":"node-2","tolerations":[{"key":"wet","operator":"Exists"}]}}',
    )
    await session.ok('wait pod/tolerant --for=condition=Ready --timeout=120s')
    await session.ok('taint nodes node-2 wet=no:NoExecute --overwrite', 'node/node-2 modified')
    await session.ok('taint nodes node-2 wet-', 'node/node-2 untainted')
    await session.ok('taint nodes node-1 wet:NoSchedule-', 'node/node-1 untainted')
    await session.until('get ds watch', /^watch +3 +3 +3 +3 +3 /m)
    await session.ok('get pod tolerant', /1\/1 +Running/)
  })

  it('are shown with what is on them', async () => {
    await session.ok('get nodes', /^NAME +STATUS +ROLES +AGE +VERSION\n/)
    await session.until(
      'describe node node-1',
      /Ready +True .*KubeletReady/,
      /HolderIdentity: +node-1/,
      /Kubelet Version: +v1\.36\./,
      /Non-terminated Pods: +\(\d in total\)\n(.*\n)*? +nodes +watch-\w+ +10m \(/,
      /Allocated resources:\n(.*\n)*? +cpu +\d+m \(\d+%\)/,
      /Starting .*kubelet +Starting kubelet\./,
      /NodeReady .*kubelet +Node node-1 status is now: NodeReady/,
      /RegisteredNode .*node-controller +Node node-1 event: Registered Node node-1 in Controller/,
    )
  })
})
