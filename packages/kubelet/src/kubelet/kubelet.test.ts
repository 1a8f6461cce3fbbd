import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { ConfigMap, Node, Pod, Secret } from '@coxswain/api/core/v1'
import { isStatusError } from '@coxswain/apimachinery/status'
import { createInProcessRuntime, createKubelet, type ImageFunction } from '@coxswain/kubelet'
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

/** Ends on SIGTERM. */
const server: ImageFunction = async ({ print, signal, clock }) => {
  print('serving')
  await clock.sleep(Number.POSITIVE_INFINITY, { signal })
}

const images: Record<string, ImageFunction> = {
  server,
  task: async ({ print }) => print('done'),
  failing: async ({ print, attempt }) => {
    print(`life ${attempt}`)
    return 3
  },
  second: async ({ attempt }) => (attempt === 0 ? 1 : 0),
  slow: async ({ clock, signal }) => await clock.sleep(5_000, { signal }),
  deaf: async ({ clock }) => await clock.sleep(3_600_000),
  environment: async ({ print, env, args }) => {
    for (const name of ['PLAIN', 'NAME', 'KEY', 'SECRET', 'P_a', 'CPU', 'JOINED'])
      print(`${name}=${env.get(name)}`)
    print(args.join(' '))
  },
  files: async ({ print, readFile }) => {
    for (const path of ['/etc/conf/a', '/etc/all/labels', '/etc/all/sub/secret', '/etc/one'])
      print(`${path}: ${new TextDecoder().decode(readFile(path))}`)
  },
  late: async context => {
    context.onExec(async ([word]) =>
      word === 'ready' && context.clock.now() > Date.parse(context.env.get('FROM')!) ? 0 : 1,
    )
    await server(context)
  },
  sick: async context => {
    const started = context.clock.now()
    context.onExec(async () => (context.clock.now() - started > 5_000 ? 1 : 0))
    await server(context)
  },
}

const agentOf = (cluster: Cluster) =>
  createKubelet({
    runtime: createInProcessRuntime({ images, clock: cluster.env.clock }),
    address: '10.0.0.7',
  })

const withAgent = (body: (stage: NodeStage) => Promise<void>) => onNodes(agentOf, body)

describe('a kubelet', () => {
  it('registers its node and renews its lease', async () => {
    await withAgent(async ({ cluster }) => {
      const node = await cluster.run(cluster.client.get(Node, { name: 'node-1' }))
      assert.equal(node?.status?.nodeInfo?.containerRuntimeVersion, 'in-process://0.1.0')
      assert.deepEqual(node?.status?.addresses?.[0], { type: 'InternalIP', address: '10.0.0.7' })
    })
  })

  it('reports when a node becomes ready, unschedulable and schedulable', async () => {
    await withAgent(async ({ cluster }) => {
      const { client, run, advance } = cluster
      for (const unschedulable of [true, false]) {
        await run(client.patch(Node, { name: 'node-1' }, { spec: { unschedulable } }, { type: 'merge' }))
        await advance(20_000)
      }
      assert.deepEqual(await eventsOf(cluster, 'node-1'), [
        'Starting: Starting kubelet.',
        'NodeReady: Node node-1 status is now: NodeReady',
        'NodeNotSchedulable: Node node-1 status is now: NodeNotSchedulable',
        'NodeSchedulable: Node node-1 status is now: NodeSchedulable',
      ])
    })
  })

  it("runs a pod, with the kubelet's status and events", async () => {
    await withAgent(async stage => {
      const { cluster } = stage
      await addPod(cluster, 'a', {})
      await cluster.advance(1_000)
      const pod = await find(cluster, 'a')
      assert.equal(pod.status?.phase, 'Running')
      assert.equal(pod.status?.podIP, '10.0.0.7')
      assert.deepEqual(conditionsOf(pod), {
        PodReadyToStartContainers: 'True',
        Initialized: 'True',
        Ready: 'True',
        ContainersReady: 'True',
        PodScheduled: 'True',
      })
      const { state, ready, started, containerID } = mainOf(pod)
      assert.ok(state?.running?.startedAt)
      assert.equal(containerID, `in-process://${pod.metadata.uid}-main-0`)
      assert.deepEqual([ready, started], [true, true])
      assert.deepEqual((await eventsOf(cluster, 'a')).sort(), [
        'Created: Container created',
        'Pulled: Successfully pulled image "server" in 1ms (1ms including waiting). Image size: 0 bytes.',
        'Pulling: Pulling image "server"',
        'Started: Container started',
      ])
      assert.equal(await logOf(stage, 'a'), 'serving\n')
    })
  })

  it('writes nothing while a pod runs undisturbed', async () => {
    await withAgent(async ({ cluster }) => {
      await addPod(cluster, 'a', {})
      await cluster.advance(2_000)
      const before = (await find(cluster, 'a')).metadata.resourceVersion
      await cluster.advance(600_000)
      assert.equal((await find(cluster, 'a')).metadata.resourceVersion, before)
    })
  })

  it('ends a pod with its containers, by their exit codes', async () => {
    await withAgent(async ({ cluster }) => {
      await addPod(cluster, 'good', { ...one('task'), restartPolicy: 'Never' })
      await addPod(cluster, 'bad', { ...one('failing'), restartPolicy: 'Never' })
      await addPod(cluster, 'healed', { ...one('second'), restartPolicy: 'OnFailure' })
      await cluster.advance(2_000)
      const good = await find(cluster, 'good')
      assert.equal(good.status?.phase, 'Succeeded')
      assert.equal(mainOf(good).state?.terminated?.reason, 'Completed')
      assert.equal(good.status?.conditions?.find(({ type }) => type === 'Ready')?.reason, 'PodCompleted')
      const bad = await find(cluster, 'bad')
      assert.equal(bad.status?.phase, 'Failed')
      assert.equal(mainOf(bad).state?.terminated?.exitCode, 3)
      const healed = await find(cluster, 'healed')
      assert.equal(healed.status?.phase, 'Succeeded')
      assert.equal(mainOf(healed).restartCount, 1)
      assert.equal(mainOf(healed).lastState?.terminated?.exitCode, 1)
    })
  })

  it('restarts at once, then after 10 s, 20 s, 40 s, and keeps the last log', async () => {
    await withAgent(async stage => {
      const { cluster } = stage
      await addPod(cluster, 'a', one('failing'))
      await cluster.advance(2_000)
      assert.equal(mainOf(await find(cluster, 'a')).restartCount, 1)
      const { waiting } = mainOf(await find(cluster, 'a')).state ?? {}
      assert.equal(waiting?.reason, 'CrashLoopBackOff')
      assert.match(waiting?.message ?? '', /^back-off 10s restarting failed container=main pod=a_default\(/)
      assert.equal(await logOf(stage, 'a', { previous: true }), 'life 1\n')
      await cluster.advance(10_000)
      assert.equal(mainOf(await find(cluster, 'a')).restartCount, 2)
      await cluster.advance(10_000)
      assert.equal(mainOf(await find(cluster, 'a')).restartCount, 2)
      await cluster.advance(11_000)
      assert.equal(mainOf(await find(cluster, 'a')).restartCount, 3)
      await cluster.advance(41_000)
      assert.equal(mainOf(await find(cluster, 'a')).restartCount, 4)
      assert.ok(
        (await eventsOf(cluster, 'a')).some(text =>
          text.startsWith('BackOff: Back-off restarting failed container main in pod a_default('),
        ),
      )
    })
  })

  it('runs init containers one by one before the others', async () => {
    await withAgent(async ({ cluster }) => {
      const initContainers = [
        { name: 'first', image: 'slow' },
        { name: 'second', image: 'slow' },
      ]
      await addPod(cluster, 'a', { initContainers })
      await cluster.advance(6_000)
      const pod = await find(cluster, 'a')
      assert.equal(pod.status?.phase, 'Pending')
      assert.deepEqual(
        pod.status?.initContainerStatuses?.map(({ state }) => Object.keys(state ?? {})),
        [['terminated'], ['running']],
      )
      assert.equal(mainOf(pod).state?.waiting?.reason, 'PodInitializing')
      assert.equal(
        pod.status?.conditions?.find(({ type }) => type === 'Initialized')?.message,
        'containers with incomplete status: [second]',
      )
      await cluster.advance(6_000)
      assert.equal((await find(cluster, 'a')).status?.phase, 'Running')
    })
  })

  it('fails a pod whose init container fails and is not to be restarted', async () => {
    await withAgent(async ({ cluster }) => {
      await addPod(cluster, 'a', {
        initContainers: [{ name: 'i', image: 'failing' }],
        restartPolicy: 'Never',
      })
      await cluster.advance(2_000)
      const pod = await find(cluster, 'a')
      assert.equal(pod.status?.phase, 'Failed')
      assert.ok(mainOf(pod).state?.waiting)
    })
  })

  it('starts sidecars first and stops them last', async () => {
    await withAgent(async ({ cluster }) => {
      const initContainers = [{ name: 'side', image: 'server', restartPolicy: 'Always' }]
      await addPod(cluster, 'a', { ...one('slow'), initContainers, restartPolicy: 'Never' })
      await cluster.advance(2_000)
      assert.equal((await find(cluster, 'a')).status?.phase, 'Running')
      await cluster.advance(6_000)
      const pod = await find(cluster, 'a')
      assert.equal(pod.status?.phase, 'Succeeded')
      assert.ok(pod.status?.initContainerStatuses?.[0]?.state?.terminated)
    })
  })

  it('waits for a missing image, longer each time', async () => {
    await withAgent(async ({ cluster }) => {
      await addPod(cluster, 'a', one('missing'))
      await cluster.advance(3_000)
      const { waiting } = mainOf(await find(cluster, 'a')).state ?? {}
      assert.equal(waiting?.reason, 'ImagePullBackOff')
      assert.equal((await find(cluster, 'a')).status?.phase, 'Pending')
      const events = await eventsOf(cluster, 'a')
      assert.ok(events.includes('Failed: Error: ErrImagePull'))
      assert.ok(events.includes('BackOff: Back-off pulling image "missing"'))
      await addPod(cluster, 'b', one('missing', { imagePullPolicy: 'Never' }))
      await cluster.advance(1_000)
      assert.equal(mainOf(await find(cluster, 'b')).state?.waiting?.reason, 'ErrImageNeverPull')
    })
  })

  it('gives containers their environment variables', async () => {
    await withAgent(async stage => {
      const { cluster } = stage
      const { client } = cluster
      const metadata = { namespace: 'default', name: 'c' }
      await cluster.run(client.create(ConfigMap, { metadata, data: { a: 'from-map' } }))
      const env = [
        { name: 'PLAIN', value: 'x' },
        { name: 'NAME', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
        { name: 'KEY', valueFrom: { configMapKeyRef: { name: 'c', key: 'a' } } },
        { name: 'SECRET', valueFrom: { secretKeyRef: { name: 's', key: 'k' } } },
        { name: 'CPU', valueFrom: { resourceFieldRef: { resource: 'requests.cpu', divisor: '1m' } } },
        { name: 'JOINED', value: '$(PLAIN)$(NAME)$$(PLAIN)$(UNSET)' },
      ]
      const container = {
        env,
        envFrom: [{ prefix: 'P_', configMapRef: { name: 'c' } }],
        args: ['$(NAME)', '$$(NAME)'],
        resources: { requests: { cpu: '250m' } },
      }
      await addPod(cluster, 'a', { ...one('environment', container), restartPolicy: 'Never' })
      await cluster.advance(3_000)
      const waiting = mainOf(await find(cluster, 'a')).state?.waiting
      assert.equal(waiting?.reason, 'CreateContainerConfigError')
      const secret = { metadata: { namespace: 'default', name: 's' }, stringData: { k: 'hush' } }
      await cluster.run(client.create(Secret, secret))
      await cluster.advance(3_000)
      assert.equal(
        await logOf(stage, 'a'),
        'PLAIN=x\nNAME=a\nKEY=from-map\nSECRET=hush\nP_a=from-map\nCPU=250\nJOINED=xa$(PLAIN)$(UNSET)\na $(NAME)\n',
      )
    })
  })

  it('fills volumes, and waits for what they need', async () => {
    await withAgent(async stage => {
      const { cluster } = stage
      const projected = {
        sources: [
          { downwardAPI: { items: [{ path: 'labels', fieldRef: { fieldPath: 'metadata.labels' } }] } },
          { secret: { name: 's', items: [{ key: 'k', path: 'sub/secret' }] } },
        ],
      }
      const volumeMounts = [
        { name: 'conf', mountPath: '/etc/conf' },
        { name: 'all', mountPath: '/etc/all' },
        { name: 'conf', mountPath: '/etc/one', subPath: 'a' },
      ]
      const volumes = [
        { name: 'conf', configMap: { name: 'c' } },
        { name: 'all', projected },
      ]
      await addPod(cluster, 'a', { ...one('files', { volumeMounts }), volumes, restartPolicy: 'Never' })
      await cluster.advance(3_000)
      const pod = await find(cluster, 'a')
      assert.equal(mainOf(pod).state?.waiting?.reason, 'ContainerCreating')
      assert.ok(
        (await eventsOf(cluster, 'a')).some(text =>
          /^FailedMount: .*volume "conf" : configmap "c" not found/.test(text),
        ),
      )
      const at = (name: string) => ({ namespace: 'default', name })
      await cluster.run(cluster.client.create(ConfigMap, { metadata: at('c'), data: { a: 'one' } }))
      await cluster.run(cluster.client.create(Secret, { metadata: at('s'), stringData: { k: 'two' } }))
      await cluster.advance(5_000)
      assert.equal(
        await logOf(stage, 'a'),
        '/etc/conf/a: one\n/etc/all/labels: app="a"\n/etc/all/sub/secret: two\n/etc/one: one\n',
      )
    })
  })

  it('is ready when the probe says so', async () => {
    await withAgent(async ({ cluster }) => {
      const from = new Date(cluster.env.clock.now() + 10_000).toISOString()
      const readinessProbe = { exec: { command: ['ready'] }, periodSeconds: 1 }
      await addPod(cluster, 'a', one('late', { readinessProbe, env: [{ name: 'FROM', value: from }] }))
      await cluster.advance(5_000)
      assert.equal(conditionsOf(await find(cluster, 'a')).Ready, 'False')
      await cluster.advance(10_000)
      assert.equal(conditionsOf(await find(cluster, 'a')).Ready, 'True')
      assert.ok(
        (await eventsOf(cluster, 'a')).some(text => text.startsWith('Unhealthy: Readiness probe failed')),
      )
    })
  })

  it('restarts a container that fails its liveness probe, and delays other probes until the startup probe succeeds', async () => {
    await withAgent(async ({ cluster }) => {
      const livenessProbe = { exec: { command: ['live'] }, periodSeconds: 2, failureThreshold: 2 }
      await addPod(cluster, 'a', one('sick', { livenessProbe }))
      const startupProbe = { exec: { command: ['ready'] }, periodSeconds: 1, failureThreshold: 30 }
      const from = new Date(cluster.env.clock.now() + 5_000).toISOString()
      await addPod(cluster, 'b', one('late', { startupProbe, env: [{ name: 'FROM', value: from }] }))
      await cluster.advance(3_000)
      assert.deepEqual(
        [mainOf(await find(cluster, 'b')).started, mainOf(await find(cluster, 'b')).ready],
        [false, false],
      )
      await cluster.advance(9_000)
      assert.equal(mainOf(await find(cluster, 'a')).restartCount, 1)
      assert.ok(
        (await eventsOf(cluster, 'a')).includes(
          'Killing: Container main failed liveness probe, will be restarted',
        ),
      )
      assert.deepEqual(
        [mainOf(await find(cluster, 'b')).started, mainOf(await find(cluster, 'b')).ready],
        [true, true],
      )
    })
  })

  it('stops a deleted pod within its grace period, and then removes it', async () => {
    await withAgent(async ({ cluster }) => {
      await addPod(cluster, 'polite', {})
      await addPod(cluster, 'deaf', { ...one('deaf'), terminationGracePeriodSeconds: 10 })
      await cluster.advance(2_000)
      for (const name of ['polite', 'deaf'])
        await cluster.run(cluster.client.delete(Pod, { namespace: 'default', name }))
      await cluster.advance(1_000)
      assert.equal(await gone(cluster, 'polite'), true)
      await cluster.advance(7_000)
      assert.equal(await gone(cluster, 'deaf'), false)
      await cluster.advance(3_000)
      assert.equal(await gone(cluster, 'deaf'), true)
      assert.ok((await eventsOf(cluster, 'deaf')).includes('Killing: Stopping container main'))
    })
  })

  it('stops a pod at its deadline', async () => {
    await withAgent(async ({ cluster }) => {
      await addPod(cluster, 'a', { activeDeadlineSeconds: 5 })
      await cluster.advance(3_000)
      assert.equal((await find(cluster, 'a')).status?.phase, 'Running')
      await cluster.advance(5_000)
      const { status } = await find(cluster, 'a')
      assert.deepEqual([status?.phase, status?.reason], ['Failed', 'DeadlineExceeded'])
    })
  })

  it('restarts a pod that ran when the previous kubelet died', async () => {
    await withAgent(async ({ cluster, stop }) => {
      await addPod(cluster, 'a', {})
      await addPod(cluster, 'b', { restartPolicy: 'Never' })
      await cluster.advance(2_000)
      await stop()
      cluster.start(agentOf(cluster).operator)
      await cluster.advance(2_000)
      const pod = await find(cluster, 'a')
      assert.equal(pod.status?.phase, 'Running')
      assert.equal(mainOf(pod).restartCount, 1)
      assert.equal(mainOf(pod).lastState?.terminated?.exitCode, 137)
      assert.equal((await find(cluster, 'b')).status?.phase, 'Failed')
    })
  })

  it('starts a pod of the same name only after its predecessor has ended', async () => {
    await withAgent(async ({ cluster }) => {
      await addPod(cluster, 'a', { ...one('deaf'), terminationGracePeriodSeconds: 5 })
      await cluster.advance(2_000)
      const first = (await find(cluster, 'a')).metadata.uid
      const key = { namespace: 'default', name: 'a' }
      await cluster.run(cluster.client.delete(Pod, key, { gracePeriodSeconds: 0 }))
      await addPod(cluster, 'a', {})
      await cluster.advance(4_000)
      const pod = await find(cluster, 'a')
      assert.notEqual(pod.metadata.uid, first)
      assert.equal(pod.status?.phase, 'Running')
    })
  })

  it('rejects requests for the log of a container that has not run', async () => {
    await withAgent(async stage => {
      await addPod(stage.cluster, 'a', one('missing'))
      await stage.cluster.advance(2_000)
      await assert.rejects(logOf(stage, 'a'), error => isStatusError(error) && error.status.code === 400)
      await assert.rejects(logOf(stage, 'b'), error => isStatusError(error) && error.status.code === 404)
    })
  })
})
