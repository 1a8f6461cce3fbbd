import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { PersistentVolume, PersistentVolumeClaim, Pod, Service } from '@coxswain/api/core/v1'
import { createInProcessRuntime, createKubelet, type ImageFunction, type PodVolume } from '@coxswain/kubelet'
import type { Cluster } from '@coxswain/testing'
import {
  addPod,
  eventsOf,
  find,
  gone,
  logOf,
  mainOf,
  type NodeStage,
  one,
  onNodes,
} from '@coxswain/testing/test-support/node-stage'

const server: ImageFunction = async ({ signal, clock }) =>
  await clock.sleep(Number.POSITIVE_INFINITY, { signal })

/** Exits with the codes in its arguments, one for each attempt. */
const coded: ImageFunction = async ({ args, attempt, print, printError, clock, signal }) => {
  print(`life ${attempt}`)
  printError('last words')
  const code = Number(args[attempt] ?? -1)
  return code < 0 ? await clock.sleep(Number.POSITIVE_INFINITY, { signal }) : code
}

const variables: ImageFunction = async ({ env, print }) => {
  for (const [name, value] of [...env].sort()) print(`${name}=${value}`)
}

/** Commands run in it do not end by themselves. */
const hanging: ImageFunction = async context => {
  context.onExec(async (_command, { signal }) => {
    await context.clock.sleep(Number.POSITIVE_INFINITY, { signal })
    return 0
  })
  await server(context)
}

const images = { server, hanging, coded, variables, instant: async () => 0 }

interface Stage extends NodeStage {
  /** By Pod: the volumes that were last written. */
  readonly volumes: ReadonlyMap<string, readonly PodVolume[]>
}

async function withAgent(body: (stage: Stage) => Promise<void>): Promise<void> {
  const volumes = new Map<string, readonly PodVolume[]>()
  const agentOf = (cluster: Cluster) => {
    const runtime = createInProcessRuntime({ images, clock: cluster.env.clock })
    return createKubelet({
      runtime: {
        ...runtime,
        writeVolumes: async (pod, wanted) => {
          volumes.set(pod.name, wanted)
          await runtime.writeVolumes(pod, wanted)
        },
      },
      apiServer: async () => ({ host: '10.9.9.9', port: 6443 }),
      serviceAddress: clusterIP => `at-${clusterIP}`,
    })
  }
  await onNodes(agentOf, stage => body({ ...stage, volumes }))
}

const codes = (...args: string[]) => ({ args, image: 'coded' })

describe("a kubelet, in upstream's cases", () => {
  it('mounts the directories of the volumes that claims are bound to', async () => {
    await withAgent(async ({ cluster, volumes }) => {
      const { client } = cluster
      const claim = (name: string) => ({ name, persistentVolumeClaim: { claimName: name } })
      await addPod(cluster, 'a', { ...one('server'), volumes: [claim('data')] })
      await cluster.advance(3_000)
      assert.equal((await find(cluster, 'a')).status?.phase, 'Pending')
      const isMissing = (text: string) =>
        text ===
        'FailedMount: MountVolume.SetUp failed for volume "data" : persistentvolumeclaim "data" not found'
      assert.ok((await eventsOf(cluster, 'a')).some(isMissing))
      const storage = { accessModes: ['ReadWriteOnce' as const], storageClassName: '' }
      await cluster.run(
        client.create(PersistentVolume, {
          metadata: { name: 'pv' },
          spec: { ...storage, capacity: { storage: '1Gi' }, hostPath: { path: '/srv/data' } },
        }),
      )
      const bound = await cluster.run(
        client.create(PersistentVolumeClaim, {
          metadata: { namespace: 'default', name: 'data' },
          spec: { ...storage, volumeName: 'pv', resources: { requests: { storage: '1Gi' } } },
        }),
      )
      await cluster.advance(3_000)
      assert.equal((await find(cluster, 'a')).status?.phase, 'Pending', 'it is not bound yet')
      const status = { phase: 'Bound' as const }
      await cluster.run(client.updateStatus(PersistentVolumeClaim, { ...bound, status }))
      await cluster.advance(8_000)
      assert.equal((await find(cluster, 'a')).status?.phase, 'Running')
      assert.deepEqual(volumes.get('a'), [
        { type: 'host', name: 'data', path: '/srv/data', hostPathType: '' },
      ])
    })
  })

  it('restarts containers by their own policies and rules', async () => {
    await withAgent(async ({ cluster }) => {
      const rules = (operator: string, ...values: number[]) => ({
        restartPolicy: 'Never',
        restartPolicyRules: [{ action: 'Restart', exitCodes: { operator, values } }],
      })
      const spec = (container: object) => ({
        containers: [{ name: 'main', ...container }],
        restartPolicy: 'Never',
      })
      await addPod(cluster, 'named', spec({ ...codes('42', '7'), ...rules('In', 42) }))
      await addPod(cluster, 'others', spec({ ...codes('7'), ...rules('NotIn', 7) }))
      await addPod(cluster, 'own', spec({ ...codes('7'), restartPolicy: 'OnFailure' }))
      await cluster.advance(2_000)
      const named = await find(cluster, 'named')
      assert.deepEqual([named.status?.phase, mainOf(named).restartCount], ['Failed', 1])
      assert.equal(mainOf(named).state?.terminated?.exitCode, 7)
      const others = await find(cluster, 'others')
      assert.deepEqual([others.status?.phase, mainOf(others).restartCount], ['Failed', 0])
      const own = await find(cluster, 'own')
      assert.deepEqual([own.status?.phase, mainOf(own).restartCount], ['Running', 1])
    })
  })

  it('restarts all containers of a pod, from the first init container on, for RestartAllContainers', async () => {
    await withAgent(async ({ cluster }) => {
      const rule = { action: 'RestartAllContainers', exitCodes: { operator: 'In', values: [9] } }
      await addPod(cluster, 'a', {
        initContainers: [{ name: 'init', image: 'instant' }],
        containers: [
          { name: 'main', ...codes('9'), restartPolicy: 'Never', restartPolicyRules: [rule] },
          { name: 'beside', image: 'server' },
        ],
        restartPolicy: 'Never',
      })
      await cluster.advance(3_000)
      const { status } = await find(cluster, 'a')
      assert.equal(status?.phase, 'Running')
      const all = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])]
      assert.deepEqual(
        all.map(({ name, restartCount, state }) => [name, restartCount, Object.keys(state ?? {})[0]]),
        [
          ['init', 1, 'terminated'],
          ['beside', 1, 'running'],
          ['main', 1, 'running'],
        ],
      )
      const restarting = status?.conditions?.find(({ type }) => type === 'AllContainersRestarting')
      assert.equal(restarting?.status, 'False')
    })
  })

  it('uses the end of the log as the termination message with FallbackToLogsOnError', async () => {
    await withAgent(async ({ cluster }) => {
      const terminationMessagePolicy = 'FallbackToLogsOnError'
      const spec = (code: string) => ({
        ...one('coded', { args: [code], terminationMessagePolicy }),
        restartPolicy: 'Never',
      })
      await addPod(cluster, 'bad', spec('1'))
      await addPod(cluster, 'good', spec('0'))
      await cluster.advance(2_000)
      assert.equal(mainOf(await find(cluster, 'bad')).state?.terminated?.message, 'life 0\nlast words\n')
      assert.equal(mainOf(await find(cluster, 'good')).state?.terminated?.message, undefined)
    })
  })

  it('does not wait for the postStart hook of a container that it has to stop', async () => {
    await withAgent(async ({ cluster }) => {
      const lifecycle = { postStart: { exec: { command: ['hang'] } } }
      await addPod(cluster, 'a', one('hanging', { lifecycle }))
      await cluster.advance(5_000)
      assert.equal((await find(cluster, 'a')).status?.phase, 'Running')
      await cluster.run(cluster.client.delete(Pod, { namespace: 'default', name: 'a' }))
      await cluster.advance(2_000)
      assert.equal(await gone(cluster, 'a'), true)
    })
  })

  it('gives containers the variables of the Services of their namespace', async () => {
    await withAgent(async stage => {
      const { cluster } = stage
      const service = await cluster.run(
        cluster.client.create(Service, {
          metadata: { namespace: 'default', name: 'my-db' },
          spec: { selector: { app: 'db' }, ports: [{ name: 'sql', port: 5432 }] },
        }),
      )
      await cluster.advance(1_000)
      const spec = { ...one('variables'), restartPolicy: 'Never' }
      await addPod(cluster, 'a', spec)
      await addPod(cluster, 'b', { ...spec, enableServiceLinks: false })
      await cluster.advance(2_000)
      const linked = (await logOf(stage, 'a')).split('\n')
      const host = `at-${service.spec?.clusterIP}`
      for (const line of [
        `MY_DB_SERVICE_HOST=${host}`,
        'MY_DB_SERVICE_PORT=5432',
        'MY_DB_SERVICE_PORT_SQL=5432',
        `MY_DB_PORT=tcp://${host}:5432`,
        `MY_DB_PORT_5432_TCP_ADDR=${host}`,
        'KUBERNETES_SERVICE_HOST=10.9.9.9',
        'KUBERNETES_SERVICE_PORT_HTTPS=6443',
        'KUBERNETES_PORT_6443_TCP=tcp://10.9.9.9:6443',
      ])
        assert.ok(linked.includes(line), line)
      const alone = await logOf(stage, 'b')
      assert.match(alone, /^KUBERNETES_SERVICE_HOST=10.9.9.9$/m)
      assert.doesNotMatch(alone, /MY_DB/)
    })
  })

  it('handles a resize: at once, with a restart, or with a reason why not', async () => {
    await withAgent(async ({ cluster }) => {
      const resizePolicy = [{ resourceName: 'memory', restartPolicy: 'RestartContainer' }]
      const resources = { requests: { cpu: '100m', memory: '10Mi' } }
      await addPod(cluster, 'a', one('server', { resources, resizePolicy }))
      await cluster.advance(2_000)
      assert.deepEqual(mainOf(await find(cluster, 'a')).resources, resources)
      const resize = async (requests: Record<string, string>) => {
        const key = { namespace: 'default', name: 'a' }
        const patch = { spec: { containers: [{ name: 'main', resources: { requests } }] } }
        await cluster.run(cluster.client.patch(Pod, key, patch, { type: 'strategic', subresource: 'resize' }))
        await cluster.advance(3_000)
        return await find(cluster, 'a')
      }
      const grown = await resize({ cpu: '200m' })
      assert.equal(mainOf(grown).resources?.requests?.cpu, '200m')
      assert.equal(mainOf(grown).allocatedResources?.cpu, '200m')
      assert.equal(mainOf(grown).restartCount, 0)
      const asked = '[{"name":"main","resources":{"requests":{"cpu":"200m","memory":"10Mi"}}}]'
      const events = await eventsOf(cluster, 'a')
      for (const how of ['Started: Pod resize started', 'Completed: Pod resize completed'])
        assert.ok(events.includes(`Resize${how}: {"containers":${asked},"generation":2}`), events.join('\n'))
      assert.equal(mainOf(await resize({ memory: '20Mi' })).restartCount, 1)
      await addPod(cluster, 'b', one('server', { resources: { requests: { cpu: '20' } } }))
      const refused = await resize({ cpu: '15' })
      assert.equal(mainOf(refused).resources?.requests?.cpu, '200m')
      const pending = refused.status?.conditions?.find(({ type }) => type === 'PodResizePending')
      assert.deepEqual([pending?.status, pending?.reason], ['True', 'Deferred'])
      assert.equal(
        pending?.message,
        "Node didn't have enough resource: cpu, requested: 15000, used: 20000, capacity: 32000",
      )
      await cluster.run(cluster.client.delete(Pod, { namespace: 'default', name: 'b' }))
      await cluster.advance(40_000)
      assert.equal(mainOf(await find(cluster, 'a')).resources?.requests?.cpu, '15')
      const settled = await resize({ cpu: '300m' })
      assert.equal(
        settled.status?.conditions?.some(({ type }) => type === 'PodResizePending'),
        false,
      )
      assert.equal(mainOf(settled).resources?.requests?.cpu, '300m')
    })
  })
})
