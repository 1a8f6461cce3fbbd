import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { ConfigMap, Node, Pod } from '@coxswain/api/core/v1'
import { isStatusError } from '@coxswain/apimachinery/status'
import { createNodeLifecycleController } from '@coxswain/controllers'
import { createKubelet, createSimulatedRuntime, type SimulatedRuntimeOptions } from '@coxswain/kubelet'
import type { Cluster } from '@coxswain/testing'
import {
  addPod,
  conditionsOf,
  eventsOf,
  find,
  gone,
  logOf,
  mainOf,
  type NodeStage,
  one,
  onNodes,
} from '@coxswain/testing/test-support/node-stage'

const agentOf = (options: SimulatedRuntimeOptions = {}, count = 1) =>
  createKubelet({ runtime: createSimulatedRuntime(options), count })

const simulate = (body: (stage: NodeStage) => Promise<void>, options?: SimulatedRuntimeOptions) =>
  onNodes(() => agentOf(options), body)

/** The requests of the kubelet while `body` runs, as `PUT /api/v1/...`. */
async function requestsDuring(cluster: Cluster, body: () => Promise<void>): Promise<string[]> {
  const seen: string[] = []
  using _spy = cluster.intercept(async (request, next) => {
    if (String(request.headers['user-agent']).startsWith('node-agent/'))
      seen.push(`${request.method} ${request.path}`)
    return await next(request)
  })
  await body()
  return seen
}

const writesTo = (requests: readonly string[], path: string) =>
  requests.filter(request => !request.startsWith('GET ') && request.includes(path))

const annotation = (word: string, value: string) => ({ [`simulated.coxswain.dev/${word}`]: value })

describe('the simulated runtime', () => {
  it("brings a pod to Running with one status write, and the kubelet's events", async () => {
    await simulate(async stage => {
      const { cluster } = stage
      const requests = await requestsDuring(cluster, async () => {
        await addPod(cluster, 'a')
        await cluster.advance(3_000)
      })
      const pod = await find(cluster, 'a')
      assert.equal(pod.status?.phase, 'Running')
      assert.equal(conditionsOf(pod).Ready, 'True')
      assert.equal(mainOf(pod).imageID, 'simulated://server')
      assert.deepEqual(pod.status?.hostIPs, [{ ip: '100.64.0.1' }])
      assert.equal(pod.status?.observedGeneration, pod.metadata.generation)
      assert.equal(pod.status?.qosClass, 'BestEffort')
      assert.deepEqual(writesTo(requests, '/pods/'), ['PUT /api/v1/namespaces/default/pods/a/status'])
      assert.deepEqual((await eventsOf(cluster, 'a')).map(text => text.split(':')[0]).sort(), [
        'Created',
        'Pulled',
        'Pulling',
        'Started',
      ])
      assert.match(await logOf(stage, 'a'), /^simulated: container main of image server runs/)
    })
  })

  it('makes no requests while nothing happens', async () => {
    await simulate(async ({ cluster }) => {
      const probe = { httpGet: { port: 80 }, periodSeconds: 1 }
      const container = { name: 'main', image: 'i', readinessProbe: probe, livenessProbe: probe }
      await addPod(cluster, 'a', { containers: [container] })
      await cluster.advance(20_000)
      assert.equal(conditionsOf(await find(cluster, 'a')).Ready, 'True')
      const requests = await requestsDuring(cluster, () => cluster.advance(60_000))
      assert.deepEqual(
        requests.filter(request => !request.endsWith('/leases/node-1')),
        [],
      )
      assert.equal(requests.length, 6)
    })
  })

  it('takes as long as its stages specify', async () => {
    const stages = { pull: 3_000, start: 2_000, ready: 5_000 }
    await simulate(
      async ({ cluster }) => {
        await addPod(cluster, 'a')
        await cluster.advance(4_000)
        assert.equal(mainOf(await find(cluster, 'a')).state?.waiting?.reason, 'ContainerCreating')
        await cluster.advance(2_000)
        assert.equal((await find(cluster, 'a')).status?.phase, 'Running')
        assert.equal(conditionsOf(await find(cluster, 'a')).Ready, 'False')
        await cluster.advance(5_000)
        assert.equal(conditionsOf(await find(cluster, 'a')).Ready, 'True')
        await addPod(cluster, 'b', one('server'))
        await cluster.advance(3_500)
        assert.equal((await find(cluster, 'b')).status?.phase, 'Running', 'the image is there by now')
      },
      { stages },
    )
  })

  it('ends a pod whose restart policy is not Always', async () => {
    await simulate(async stage => {
      const { cluster } = stage
      await addPod(cluster, 'good', { restartPolicy: 'Never' })
      await addPod(cluster, 'bad', { restartPolicy: 'Never' }, annotation('exit-code', '3'))
      await addPod(cluster, 'long', { restartPolicy: 'OnFailure' }, annotation('run-for', '1m'))
      await cluster.advance(4_000)
      assert.equal((await find(cluster, 'good')).status?.phase, 'Succeeded')
      const bad = await find(cluster, 'bad')
      assert.equal(bad.status?.phase, 'Failed')
      assert.equal(mainOf(bad).state?.terminated?.exitCode, 3)
      assert.match(await logOf(stage, 'bad'), /has ended with exit code 3\n$/)
      assert.equal((await find(cluster, 'long')).status?.phase, 'Running')
      await cluster.advance(60_000)
      assert.equal((await find(cluster, 'long')).status?.phase, 'Succeeded')
    })
  })

  it('restarts containers that end by annotation, with back-off', async () => {
    await simulate(async ({ cluster }) => {
      await addPod(cluster, 'a', {}, { ...annotation('run-for', '1s'), ...annotation('exit-code', '1') })
      await cluster.advance(5_000)
      const main = mainOf(await find(cluster, 'a'))
      assert.equal(main.restartCount, 1)
      assert.equal(main.state?.waiting?.reason, 'CrashLoopBackOff')
      assert.equal(main.lastState?.terminated?.exitCode, 1)
    })
  })

  it('runs init containers and sidecars in order', async () => {
    await simulate(async ({ cluster }) => {
      const initContainers = [
        { name: 'side', image: 'i', restartPolicy: 'Always' },
        { name: 'first', image: 'i' },
      ]
      const annotations = annotation('run-for.first', '5s')
      await addPod(cluster, 'a', { initContainers, restartPolicy: 'Never' }, annotations)
      await cluster.advance(4_000)
      const before = await find(cluster, 'a')
      assert.equal(before.status?.phase, 'Pending')
      assert.deepEqual(
        before.status?.initContainerStatuses?.map(({ state }) => Object.keys(state ?? {})),
        [['running'], ['running']],
      )
      await cluster.advance(3_500)
      assert.equal((await find(cluster, 'a')).status?.phase, 'Running')
      await cluster.advance(3_000)
      const after = await find(cluster, 'a')
      assert.equal(after.status?.phase, 'Succeeded')
      assert.ok(after.status?.initContainerStatuses?.[0]?.state?.terminated)
    })
  })

  it('waits for missing images, ConfigMaps and variables', async () => {
    await simulate(
      async ({ cluster }) => {
        await addPod(cluster, 'image', one('lost'))
        const volumes = [{ name: 'v', configMap: { name: 'c' } }]
        await addPod(cluster, 'volume', { ...one('i'), volumes })
        const env = [{ name: 'A', valueFrom: { configMapKeyRef: { name: 'c', key: 'a' } } }]
        await addPod(cluster, 'variable', one('i', { env }))
        await cluster.advance(5_000)
        const reasonOf = async (name: string) => mainOf(await find(cluster, name)).state?.waiting?.reason
        assert.equal(await reasonOf('image'), 'ImagePullBackOff')
        assert.equal(await reasonOf('volume'), 'ContainerCreating')
        assert.equal(await reasonOf('variable'), 'CreateContainerConfigError')
        const metadata = { namespace: 'default', name: 'c' }
        await cluster.run(cluster.client.create(ConfigMap, { metadata, data: { a: '1' } }))
        await cluster.advance(5_000)
        assert.equal((await find(cluster, 'volume')).status?.phase, 'Running')
        assert.equal((await find(cluster, 'variable')).status?.phase, 'Running')
        assert.equal((await find(cluster, 'image')).status?.phase, 'Pending')
      },
      { missingImages: ['lost'] },
    )
  })

  it('removes a deleted pod after its hooks, and writes the final status of one with finalizers', async () => {
    await simulate(async ({ cluster }) => {
      const preStop = { sleep: { seconds: 5 } }
      await addPod(cluster, 'slow', one('i', { lifecycle: { preStop } }))
      await addPod(cluster, 'held')
      const held = { namespace: 'default', name: 'held' }
      const patch = (finalizers: string[]) =>
        cluster.run(cluster.client.patch(Pod, held, { metadata: { finalizers } }, { type: 'merge' }))
      await patch(['example.com/hold'])
      await cluster.advance(3_000)
      for (const name of ['slow', 'held'])
        await cluster.run(cluster.client.delete(Pod, { namespace: 'default', name }))
      await cluster.advance(3_000)
      assert.equal(await gone(cluster, 'slow'), false)
      assert.equal(mainOf(await find(cluster, 'held')).state?.terminated?.exitCode, 143)
      await cluster.advance(3_000)
      assert.equal(await gone(cluster, 'slow'), true)
      assert.ok((await eventsOf(cluster, 'slow')).includes('Killing: Stopping container main'))
      await patch([])
      await cluster.advance(1_000)
      assert.equal(await gone(cluster, 'held'), true)
    })
  })

  it('continues after the kubelet is restarted, without a write', async () => {
    await simulate(async ({ cluster, stop }) => {
      await addPod(cluster, 'a')
      await addPod(cluster, 'b', { restartPolicy: 'Never' }, annotation('run-for', '30s'))
      await cluster.advance(3_000)
      const { podIP } = (await find(cluster, 'a')).status ?? {}
      await stop()
      await cluster.advance(10_000)
      const requests = await requestsDuring(cluster, async () => {
        cluster.start(agentOf().operator)
        await cluster.advance(5_000)
      })
      assert.deepEqual(writesTo(requests, '/pods/'), [])
      const pod = await find(cluster, 'a')
      assert.equal(mainOf(pod).restartCount, 0)
      assert.equal(pod.status?.podIP, podIP)
      await addPod(cluster, 'c')
      await cluster.advance(2_000)
      assert.notEqual((await find(cluster, 'c')).status?.podIP, podIP)
      assert.equal((await find(cluster, 'b')).status?.phase, 'Running')
      await cluster.advance(13_000)
      const { finishedAt, startedAt } = mainOf(await find(cluster, 'b')).state?.terminated ?? {}
      assert.equal(Date.parse(finishedAt ?? '') - Date.parse(startedAt ?? ''), 30_000)
    })
  })

  it("gives pods their own addresses, from their node's range", async () => {
    await onNodes(
      () => agentOf({}, 2),
      async ({ cluster }) => {
        const spec = { podCIDR: '10.1.7.0/29', podCIDRs: ['10.1.7.0/29'] }
        await cluster.run(cluster.client.patch(Node, { name: 'node-2' }, { spec }, { type: 'merge' }))
        const names = ['a', 'b', 'c', 'd', 'e', 'f']
        for (const name of names) await addPod(cluster, name, { nodeName: 'node-2' })
        await addPod(cluster, 'host', { nodeName: 'node-2', hostNetwork: true })
        await addPod(cluster, 'other')
        await cluster.advance(3_000)
        const addressOf = async (name: string) => (await find(cluster, name)).status?.podIP ?? ''
        const addresses: string[] = []
        for (const name of names) addresses.push(await addressOf(name))
        assert.equal(new Set(addresses).size, names.length)
        assert.deepEqual(addresses.filter(address => address.startsWith('10.1.7.')).sort(), [
          '10.1.7.2',
          '10.1.7.3',
          '10.1.7.4',
          '10.1.7.5',
          '10.1.7.6',
        ])
        assert.equal(await addressOf('host'), '100.64.0.2')
        assert.match(await addressOf('other'), /^10\.128\.0\./)
      },
    )
  })

  it('does not mark its pods ready while its node is considered lost', async () => {
    await simulate(async ({ cluster }) => {
      cluster.start(createNodeLifecycleController())
      await addPod(cluster, 'a')
      await cluster.advance(10_000)
      const readyOf = async () => conditionsOf(await find(cluster, 'a')).Ready
      assert.equal(await readyOf(), 'True')
      const requests = await requestsDuring(cluster, async () => {
        using _outage = cluster.intercept(async (request, next) => {
          const isAgent = String(request.headers['user-agent']).startsWith('node-agent/')
          const isSign = request.path.includes('/leases/') || request.path.endsWith('/nodes/node-1/status')
          if (isAgent && isSign && request.method === 'PUT') throw new Error('the network is down')
          return await next(request)
        })
        await cluster.advance(120_000)
        assert.equal(await readyOf(), 'False')
      })
      assert.deepEqual(writesTo(requests, '/pods/'), [])
      await cluster.advance(30_000)
      assert.equal(await readyOf(), 'True')
    })
  })

  it('rejects exec, attach and port-forward, and names the runtime that supports them', async () => {
    await simulate(async ({ cluster, agent }) => {
      await addPod(cluster, 'a')
      await cluster.advance(2_000)
      const pod = { namespace: 'default', name: 'a' }
      const { signal } = new AbortController()
      const io = { stdout: async () => {}, stderr: async () => {}, tty: false, signal }
      const isRefusal = (error: unknown) =>
        isStatusError(error) && error.code === 400 && /--runtime process/.test(error.message)
      await assert.rejects(agent.connection.exec(pod, 'main', ['ls'], io), isRefusal)
      await assert.rejects(agent.connection.attach(pod, 'main', io), isRefusal)
      await assert.rejects(agent.connection.dial(pod, 80), isRefusal)
    })
  })

  it('reports the conditions and images of nodes', async () => {
    await simulate(async ({ cluster }) => {
      await addPod(cluster, 'a')
      await cluster.advance(15_000)
      const read = () => cluster.run(cluster.client.get(Node, { name: 'node-1' }))
      const node = await read()
      assert.deepEqual(
        node?.status?.conditions?.map(({ type, status }) => `${type}=${status}`),
        ['MemoryPressure=False', 'DiskPressure=False', 'PIDPressure=False', 'Ready=True'],
      )
      assert.deepEqual(node?.status?.images, [{ names: ['server'], sizeBytes: 10_000_000 }])
      const heartbeatOf = (of: Node | undefined) => of?.status?.conditions?.[0]?.lastHeartbeatTime
      await cluster.advance(200_000)
      assert.equal(heartbeatOf(await read()), heartbeatOf(node))
      await cluster.advance(120_000)
      assert.notEqual(heartbeatOf(await read()), heartbeatOf(node))
    })
  })
})
