import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { type RunningServer, startServer } from '../../support/coxswain.ts'
import { createClusterSession, manifests, type Session } from '../session.ts'

// Autoscaling needs controllers and nodes, which the reference is run without. What a metrics server would measure is
// written as objects: to its clients the API is the same.
let server: RunningServer
let admin: Session

before(async () => {
  server = await startServer('--operator', 'examples/07-podset/operator.ts')
  admin = await createClusterSession(server, '1.36', 'autoscaling')
  await admin.ok(`apply -f ${manifests}/metrics-crds.yaml`)
  await admin.ok('wait crd/pods.metrics.k8s.io crd/nodes.metrics.k8s.io --for=condition=Established')
})
after(async () => {
  await server[Symbol.asyncDispose]()
  admin[Symbol.dispose]()
})

const metadataOf = (name: string, labels = {}) => ({ metadata: { name, labels } })
// Measured after the pods began: what is older says nothing about them.
const measured = {
  timestamp: new Date(Date.now() + 3_600_000).toISOString().replace(/\.\d+/, ''),
  window: '30s',
}

/** Says that each of the pods that are there uses so much. */
async function measure(session: Session, label: string, cpu: string): Promise<void> {
  const [key = '', value] = label.split('=')
  const { items } = JSON.parse(await session.ok(`get pods -l ${label} -o json`)) as {
    items: { metadata: { name: string }; spec: { containers: { name: string }[] } }[]
  }
  const list = items.map(({ metadata: { name }, spec }) => ({
    apiVersion: 'metrics.k8s.io/v1beta1',
    kind: 'PodMetrics',
    ...metadataOf(name, { [key]: value }),
    ...measured,
    containers: spec.containers.map(container => ({ name: container.name, usage: { cpu, memory: '40Mi' } })),
  }))
  const file = join(session.directory, 'metrics.json')
  writeFileSync(file, JSON.stringify({ apiVersion: 'v1', kind: 'List', items: list }))
  await session.ok(`apply -f ${file}`)
}

const atOnce = '{"spec":{"behavior":{"scaleDown":{"stabilizationWindowSeconds":0}}}}'

// Those in a group go on from each other.
const one = { concurrency: 1 }

describe('autoscaling', { concurrency: 3 }, () => {
  describe('a Deployment', one, () => {
    let session: Session
    before(async () => {
      session = await createClusterSession(server, '1.36', 'autoscaling-deployment')
      await session.ok('create deployment web --image=nginx')
      await session.ok('set resources deploy web --requests=cpu=100m')
      await session.ok('rollout status deploy/web --timeout=120s')
    })
    after(() => session[Symbol.dispose]())

    it('grows and shrinks with what its pods use', async () => {
      await measure(session, 'app=web', '250m')
      await session.ok('autoscale deploy web --min=1 --max=3 --cpu=50%', /web autoscaled/)
      await session.ok(
        'get --raw /apis/autoscaling/v2/namespaces/autoscaling-deployment/horizontalpodautoscalers/web',
        /"averageUtilization":50/,
      )
      await session.until('get deploy web', /^web +3\/3 +3 +3 /m)
      await session.until('get hpa web', /^web +Deployment\/web +cpu: 250%\/50% +1 +3 +\d/m)
      await session.until(
        'describe hpa web',
        /\(as a percentage of request\): +250% \(250m\) \/ 50%/,
        /ScalingActive +True +ValidMetricFound/,
        /ScalingLimited +True +TooManyReplicas/,
        /SuccessfulRescale .*horizontal-pod-autoscaler +New size: 3; reason: cpu resource utilization \(percentage of request\) above target/,
      )
      await measure(session, 'app=web', '5m')
      await session.ok(`patch hpa web --type=merge -p ${atOnce}`)
      await session.until('get deploy web', /^web +1\/1 +1 +1 /m)
      await session.until('describe hpa web', /New size: 1; reason: All metrics below target/)
    })
  })

  describe('custom resources with scale', one, () => {
    let session: Session
    before(async () => {
      session = await createClusterSession(server, '1.36', 'autoscaling-custom')
      await session.ok('apply -f examples/07-podset/sample.yaml')
    })
    after(() => session[Symbol.dispose]())

    it('are scaled by hand', async () => {
      await session.ok(
        'scale podset example-podset --replicas=1',
        'podset.app.example.com/example-podset scaled',
      )
      await session.fails(
        'scale podset example-podset --replicas=5 --current-replicas=2',
        /Expected replicas to be 2, was 1/,
      )
      await session.until('get podset', /^example-podset +1 +1 +1 *$/m)
      await session.ok('scale crontab my-new-cron-object --replicas=2', /scaled/)
      await session.until('get ct -o jsonpath={.items[0].status.replicas}', '2')
    })

    it('are scaled by what their pods use', async () => {
      await measure(session, 'podset=example-podset', '160m')
      await session.ok('autoscale podset example-podset --min=1 --max=3 --cpu=80%', /autoscaled/)
      // A CronTab makes no pods: these are its own by label.
      await session.ok('run tick --image=busybox --labels=crontab=my-new-cron-object')
      await session.ok('wait pod/tick --for=condition=Ready --timeout=120s')
      await measure(session, 'crontab=my-new-cron-object', '400m')
      await session.ok('autoscale crontab my-new-cron-object --min=1 --max=5 --cpu=100m', /autoscaled/)
      await session.until('get podset', /^example-podset +2 +2 +2 *$/m)
      await session.until('get ct', /^my-new-cron-object +\S.* +4 *$/m)
      await session.until('get hpa', /PodSet\/example-podset +cpu: 160%\/80% +1 +3 +\d/)
      await session.until('get hpa', /CronTab\/my-new-cron-object +cpu: 400m\/100m +1 +5 +\d/)
      await measure(session, 'podset=example-podset', '5m')
      await session.ok(`patch hpa example-podset --type=merge -p ${atOnce}`)
      await session.until('get podset', /^example-podset +1 +1 +1 *$/m)
      await session.until('get pods -l podset=example-podset -o name', /^pod\/\S+\s*$/)
    })
  })

  describe('top', one, () => {
    let session: Session
    before(async () => {
      session = await createClusterSession(server, '1.36', 'autoscaling-top')
      await session.ok('run busy --image=busybox')
      await session.ok('run idle --image=busybox')
      await session.ok('wait pod --all --for=condition=Ready --timeout=120s')
    })
    after(() => session[Symbol.dispose]())

    it('shows what pods and nodes use', async () => {
      await session.fails('top pod busy', /NotFound|not available yet/)
      await measure(session, 'run=busy', '1500m')
      await measure(session, 'run=idle', '3m')
      await session.ok('top pod --sort-by=cpu', /^busy +1500m +40Mi *\nidle +3m +40Mi *$/m)
      await session.ok('top pod busy --containers', /^busy +busy +1500m +40Mi *$/m)
      await session.ok('top pod -l run=idle --no-headers', /^idle +3m +40Mi *\s$/)
      const file = join(session.directory, 'node.json')
      const usage = { cpu: '3200m', memory: '2Gi' }
      const node = { apiVersion: 'metrics.k8s.io/v1beta1', kind: 'NodeMetrics', ...metadataOf('node-1') }
      writeFileSync(file, JSON.stringify({ ...node, ...measured, usage }))
      await session.ok(`apply -f ${file}`)
      await session.ok('top node', /^node-1 +3200m +\d+% +2048Mi +\d+% *$/m)
    })
  })
})
