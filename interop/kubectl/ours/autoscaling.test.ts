import { after, before, describe, it } from 'node:test'
import { type RunningServer, startServer } from '../../support/coxswain.ts'
import { createClusterSession, type Session } from '../session.ts'

// Autoscaling needs controllers and nodes, which the reference is run without.
let server: RunningServer

before(async () => {
  server = await startServer('--operator', 'examples/07-podset/operator.ts')
})
after(async () => {
  await server[Symbol.asyncDispose]()
})

/** Makes each of the simulated Pods that are there use so much. */
async function use(session: Session, label: string, cpu: string): Promise<void> {
  const prefix = 'simulated.coxswain.dev/usage-'
  await session.ok(
    `annotate pods -l ${label} --overwrite ${prefix}cpu=${cpu} ${prefix}memory=40Mi`,
    /annotated/,
  )
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
      await use(session, 'app=web', '250m')
      await session.ok('autoscale deploy web --min=1 --max=3 --cpu=50%', /web autoscaled/)
      await session.ok(
        'get --raw /apis/autoscaling/v2/namespaces/autoscaling-deployment/horizontalpodautoscalers/web',
        /"averageUtilization":50/,
      )
      await session.until('get deploy web', /^web +3\/3 +3 +3 /m)
      await use(session, 'app=web', '250m')
      await session.until('get hpa web', /^web +Deployment\/web +cpu: 250%\/50% +1 +3 +\d/m)
      await session.until(
        'describe hpa web',
        /\(as a percentage of request\): +250% \(250m\) \/ 50%/,
        /ScalingActive +True +ValidMetricFound/,
        /ScalingLimited +True +TooManyReplicas/,
        /SuccessfulRescale .*horizontal-pod-autoscaler +New size: 3; reason: cpu resource utilization \(percentage of request\) above target/,
      )
      await use(session, 'app=web', '5m')
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
      await use(session, 'podset=example-podset', '160m')
      await session.ok('autoscale podset example-podset --min=1 --max=3 --cpu=80%', /autoscaled/)
      // A CronTab makes no pods: these are its own by label.
      await session.ok('run tick --image=busybox --labels=crontab=my-new-cron-object')
      await session.ok('wait pod/tick --for=condition=Ready --timeout=120s')
      await use(session, 'crontab=my-new-cron-object', '400m')
      await session.ok('autoscale crontab my-new-cron-object --min=1 --max=5 --cpu=100m', /autoscaled/)
      await session.until('get podset', /^example-podset +2 +2 +2 *$/m)
      await session.until('get ct', /^my-new-cron-object +\S.* +4 *$/m)
      await session.until('get hpa', /PodSet\/example-podset +cpu: \d+%\/80% +1 +3 +2/)
      await session.until('get hpa', /CronTab\/my-new-cron-object +cpu: 400m\/100m +1 +5 +\d/)
      await use(session, 'podset=example-podset', '5m')
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

    it('shows what Pods and nodes use', async () => {
      await session.fails('top pod none', /NotFound/)
      await use(session, 'run=busy', '1500m')
      await use(session, 'run=idle', '3m')
      await session.until('top pod --sort-by=cpu', /^busy +1500m +40Mi *\nidle +3m +40Mi *$/m)
      await session.ok('top pod busy --containers', /^busy +busy +1500m +40Mi *$/m)
      await session.ok('top pod -l run=idle --no-headers', /^idle +3m +40Mi *\s$/)
      await session.ok('top pod -A', /^autoscaling-top +busy +1500m/m)
      await session.ok('top node', /^node-1 +\d{4,}m +\d+% +\d+Mi +\d+% *$/m)
      await session.ok('get pods.metrics.k8s.io', /^NAME +CPU +MEMORY +WINDOW *\nbusy +1500m +40Mi +15s *$/m)
      await session.ok(
        'api-resources --api-group=metrics.k8s.io',
        /^pods +metrics.k8s.io\/v1beta1 +true +PodMetrics *$/m,
      )
      await session.ok('explain pods --api-version=metrics.k8s.io/v1beta1 --recursive', /containers\s/)
    })

    it('may be used by those who may view', async () => {
      await session.ok('create rolebinding viewers --clusterrole=view --user=vera')
      await session.until('top pod --as=vera', /^busy /m)
      await session.fails('top pod -n kube-system --as=vera', /Forbidden/)
    })

    it('works with an old kubectl', async () => {
      const old = await createClusterSession(server, '1.20', 'autoscaling-old')
      try {
        await old.ok('top pod -n autoscaling-top', /^busy +1500m +40Mi *$/m)
        await old.ok('top node', /^node-1 /m)
      } finally {
        old[Symbol.dispose]()
      }
    })
  })
})

describe('Pods that are processes', () => {
  it('use what the machine says that they use', async () => {
    await using machine = await startServer('--storage', 'memory', '--runtime', 'process')
    using session = await createClusterSession(machine, '1.36', 'processes')
    await session.ok("run busy --image=busybox -- sh -c 'while :; do :; done'")
    await session.ok('run idle --image=busybox -- sleep 600')
    await session.ok('wait pod --all --for=condition=Ready --timeout=120s')
    await session.until('top pod busy --no-headers', /^busy +[1-9]\d+m +\d+Mi/)
    await session.ok('top pod idle --no-headers', /^idle +\dm +\d+Mi/)
    await session.ok('top node --no-headers', /^node-1 +[1-9]\d+m +\d+%/)
  })
})
