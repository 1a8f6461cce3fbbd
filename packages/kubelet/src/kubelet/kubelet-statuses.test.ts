import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Pod } from '@coxswain/api/core/v1'
import {
  type ContainerRuntime,
  createInProcessRuntime,
  createKubelet,
  type ImageFunction,
} from '@coxswain/kubelet'
import type { Cluster } from '@coxswain/testing'
import {
  addPod,
  eventsOf,
  find,
  mainOf,
  type NodeStage,
  onNodes,
} from '@coxswain/testing/test-support/node-stage'

const server: ImageFunction = async ({ signal, clock }) =>
  await clock.sleep(Number.POSITIVE_INFINITY, { signal })
/** Takes five seconds to end. */
const slow: ImageFunction = async ({ signal, clock }) => {
  await clock.sleep(Number.POSITIVE_INFINITY, { signal }).catch(() => {})
  await clock.sleep(5_000)
}
const refusing: ImageFunction = async context => {
  context.onExec(async () => {
    throw new Error('no such program')
  })
  await server(context)
}
const images = { server, slow, refusing, task: async () => 0, wordy: async () => 1 }

async function withAgent(
  body: (stage: NodeStage) => Promise<void>,
  change: (runtime: ContainerRuntime) => ContainerRuntime = runtime => runtime,
): Promise<void> {
  const agentOf = ({ env }: Cluster) =>
    createKubelet({ runtime: change(createInProcessRuntime({ images, clock: env.clock })) })
  await onNodes(agentOf, body)
}

const sidecar = (name: string, image = 'server') => ({ name, image, restartPolicy: 'Always' })

describe('the status of a pod', () => {
  it('becomes terminal only when its sidecars have ended too, in reverse order', async () => {
    await withAgent(async ({ cluster }) => {
      await addPod(cluster, 'a', {
        initContainers: [sidecar('first', 'slow'), sidecar('second', 'slow')],
        containers: [{ name: 'main', image: 'task' }],
        restartPolicy: 'Never',
        terminationGracePeriodSeconds: 30,
      })
      const phases: unknown[] = []
      for (let second = 0; second < 16; second++) {
        const { status } = await find(cluster, 'a')
        const running = (status?.initContainerStatuses ?? []).map(({ state }) => state?.running !== undefined)
        phases.push(`${status?.phase} ${running.join(' ')}`)
        await cluster.advance(1_000)
      }
      assert.deepEqual(phases.filter((phase, index) => index > 0 && phase !== phases[index - 1]).slice(-2), [
        'Running true false',
        'Succeeded false false',
      ])
    })
  })

  it('gives sidecars the rest of the grace period', async () => {
    await withAgent(async ({ cluster }) => {
      await addPod(cluster, 'a', {
        initContainers: [sidecar('beside', 'slow')],
        containers: [{ name: 'main', image: 'slow' }],
        terminationGracePeriodSeconds: 6,
      })
      await cluster.advance(2_000)
      await cluster.run(cluster.client.delete(Pod, { namespace: 'default', name: 'a' }))
      await cluster.advance(500)
      const killing = (await eventsOf(cluster, 'a')).filter(text => text.startsWith('Killing'))
      assert.deepEqual(killing.sort(), [
        'Killing: Stopping container beside',
        'Killing: Stopping container main',
      ])
      // Five seconds for the main container, and two for the sidecar, which has one left but gets the minimum.
      await cluster.advance(7_000)
      assert.equal(await cluster.run(cluster.client.get(Pod, { namespace: 'default', name: 'a' })), undefined)
    })
  })

  it('is Failed at its deadline when its containers have ended, with the reason', async () => {
    await withAgent(async ({ cluster }) => {
      await addPod(cluster, 'a', {
        activeDeadlineSeconds: 3,
        containers: [{ name: 'main', image: 'slow' }],
        terminationGracePeriodSeconds: 30,
      })
      await cluster.advance(5_000)
      const ending = await find(cluster, 'a')
      assert.deepEqual([ending.status?.phase, ending.status?.reason], ['Running', undefined])
      await cluster.advance(6_000)
      const { status } = await find(cluster, 'a')
      assert.deepEqual([status?.phase, status?.reason], ['Failed', 'DeadlineExceeded'])
      assert.equal(status?.message, 'Pod was active on the node longer than the specified deadline')
    })
  })

  it('lists containers by name, with their mounts and allocated resources', async () => {
    await withAgent(async ({ cluster }) => {
      const resources = { requests: { cpu: '100m' }, limits: { memory: '1Gi', cpu: '1' } }
      await addPod(cluster, 'a', {
        volumes: [{ name: 'v', emptyDir: {} }],
        initContainers: [{ name: 'init', image: 'task' }],
        containers: [
          { name: 'z', image: 'server' },
          {
            name: 'b',
            image: 'server',
            resources,
            volumeMounts: [
              { name: 'v', mountPath: '/v' },
              { name: 'v', mountPath: '/r', readOnly: true },
            ],
          },
        ],
      })
      await cluster.advance(3_000)
      const { status } = await find(cluster, 'a')
      const [b, z] = status?.containerStatuses ?? []
      assert.deepEqual([b?.name, z?.name], ['b', 'z'])
      assert.deepEqual(b?.volumeMounts, [
        { name: 'v', mountPath: '/v' },
        { name: 'v', mountPath: '/r', readOnly: true, recursiveReadOnly: 'Disabled' },
      ])
      assert.deepEqual(b?.allocatedResources, { cpu: '100m', memory: '1Gi' })
      assert.deepEqual(z?.resources, {})
      const order = status?.conditions?.map(({ type }) => type)
      assert.deepEqual(order, [
        'PodReadyToStartContainers',
        'Initialized',
        'Ready',
        'ContainersReady',
        'PodScheduled',
      ])
    })
  })

  it('is waiting for initialization in every container, init containers too', async () => {
    await withAgent(async ({ cluster }) => {
      await addPod(cluster, 'a', {
        volumes: [{ name: 'v', configMap: { name: 'missing' } }],
        initContainers: [{ name: 'init', image: 'task' }],
        containers: [{ name: 'main', image: 'server' }],
      })
      await cluster.advance(3_000)
      const { status } = await find(cluster, 'a')
      const all = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])]
      assert.deepEqual(
        all.map(({ state }) => state?.waiting?.reason),
        ['PodInitializing', 'PodInitializing'],
      )
    })
  })

  it('says why a readiness gate is not satisfied', async () => {
    await withAgent(async ({ cluster }) => {
      const readinessGates = [{ conditionType: 'x.dev/a' }, { conditionType: 'x.dev/b' }]
      await addPod(cluster, 'a', { readinessGates })
      await cluster.advance(3_000)
      const pod = await find(cluster, 'a')
      const conditions = [...(pod.status?.conditions ?? []), { type: 'x.dev/b', status: 'False' as const }]
      await cluster.run(cluster.client.updateStatus(Pod, { ...pod, status: { ...pod.status, conditions } }))
      await cluster.advance(3_000)
      const { status } = await find(cluster, 'a')
      const ready = status?.conditions?.find(({ type }) => type === 'Ready')
      assert.equal(
        ready?.message,
        'corresponding condition of pod readiness gate "x.dev/a" does not exist., the status of pod readiness gate "x.dev/b" is not "True", but False',
      )
      assert.equal(status?.conditions?.[0]?.type, 'x.dev/b')
    })
  })

  it('is ContainerStatusUnknown for a container that was lost with its node', async () => {
    await withAgent(async ({ cluster, stop }) => {
      await addPod(cluster, 'a', { restartPolicy: 'Never' })
      await cluster.advance(3_000)
      await stop()
      const runtime = createInProcessRuntime({ images, clock: cluster.env.clock })
      cluster.start(createKubelet({ runtime }).operator)
      await cluster.advance(3_000)
      const { terminated } = mainOf(await find(cluster, 'a')).state ?? {}
      assert.equal(terminated?.reason, 'ContainerStatusUnknown')
      assert.equal(terminated?.exitCode, 137)
    })
  })
})

describe('a pod that does not fit on its node', () => {
  it('is rejected, and uses no capacity', async () => {
    await withAgent(async ({ cluster }) => {
      const asking = (cpu: string) => ({
        containers: [{ name: 'main', image: 'server', resources: { requests: { cpu } } }],
      })
      await addPod(cluster, 'big', asking('33'))
      await addPod(cluster, 'most', asking('31'))
      await addPod(cluster, 'rest', asking('1'))
      await addPod(cluster, 'more', asking('1m'))
      await cluster.advance(3_000)
      const { status } = await find(cluster, 'big')
      assert.deepEqual([status?.phase, status?.reason], ['Failed', 'OutOfcpu'])
      const message = "Node didn't have enough resource: cpu, requested: 33000, used: 0, capacity: 32000"
      assert.equal(status?.message, `Pod was rejected: ${message}`)
      assert.deepEqual(await eventsOf(cluster, 'big'), [`OutOfcpu: ${message}`])
      const phases: unknown[] = []
      for (const name of ['most', 'rest', 'more']) phases.push((await find(cluster, name)).status?.phase)
      assert.deepEqual(phases, ['Running', 'Running', 'Failed'])
      await cluster.run(cluster.client.delete(Pod, { namespace: 'default', name: 'most' }))
      await cluster.advance(3_000)
      await addPod(cluster, 'next', asking('31'))
      await cluster.advance(3_000)
      assert.equal((await find(cluster, 'next')).status?.phase, 'Running')
    })
  })
})

describe('a probe that cannot be executed', () => {
  it('counts neither as a success nor as a failure', async () => {
    await withAgent(async ({ cluster }) => {
      const probe = { exec: { command: ['x'] }, periodSeconds: 1, failureThreshold: 1 }
      await addPod(cluster, 'a', {
        containers: [{ name: 'main', image: 'refusing', livenessProbe: probe }],
      })
      await cluster.advance(10_000)
      assert.equal(mainOf(await find(cluster, 'a')).restartCount, 0)
      const text = 'Unhealthy: Liveness probe errored and resulted in unknown state: no such program'
      assert.ok((await eventsOf(cluster, 'a')).includes(text))
    })
  })
})

describe('a pod over its storage limits', () => {
  const withUsage = (volumes: number, main: number) => (runtime: ContainerRuntime) => ({
    ...runtime,
    diskUsage: async () => ({
      volumes: new Map([['v', volumes]]),
      containers: new Map([['main', main]]),
    }),
  })
  const spec = {
    volumes: [{ name: 'v', emptyDir: { sizeLimit: '1Mi' } }],
    containers: [{ name: 'main', image: 'server', resources: { limits: { 'ephemeral-storage': '2Mi' } } }],
  }
  const MiB = 1024 * 1024

  for (const { what, usage, message } of [
    {
      what: 'in a volume',
      usage: withUsage(MiB + 1, 0),
      message: 'Usage of EmptyDir volume "v" exceeds the limit "1Mi". ',
    },
    {
      what: 'altogether',
      usage: withUsage(MiB, MiB + 1),
      message: 'Pod ephemeral local storage usage exceeds the total limit of containers 2Mi. ',
    },
  ])
    it(`is evicted: ${what}`, async () => {
      await withAgent(async ({ cluster }) => {
        await addPod(cluster, 'a', spec)
        await cluster.advance(5_000)
        assert.equal((await find(cluster, 'a')).status?.phase, 'Running')
        await cluster.advance(15_000)
        const { status } = await find(cluster, 'a')
        assert.deepEqual([status?.phase, status?.reason, status?.message], ['Failed', 'Evicted', message])
        assert.ok((await eventsOf(cluster, 'a')).includes(`Evicted: ${message}`))
      }, usage)
    })

  it('stays as long as it is within its limits', async () => {
    await withAgent(
      async ({ cluster }) => {
        await addPod(cluster, 'a', spec)
        await cluster.advance(60_000)
        assert.equal((await find(cluster, 'a')).status?.phase, 'Running')
      },
      withUsage(MiB, MiB),
    )
  })
})
