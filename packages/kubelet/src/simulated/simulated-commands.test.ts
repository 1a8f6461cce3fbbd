import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Job } from '@coxswain/api/batch/v1'
import { Node, Pod } from '@coxswain/api/core/v1'
import { createJobController, createTaintEvictionController } from '@coxswain/controllers'
import { VirtualWorld } from '@coxswain/kit'
import { type Cluster, startCluster } from '@coxswain/testing'

const namespace = 'default'

async function withNodes(body: (cluster: Cluster) => Promise<void>): Promise<void> {
  await using cluster = await startCluster({
    env: new VirtualWorld({ seed: 5 }),
    controllers: true,
    nodes: 1,
  })
  cluster.start(createJobController())
  cluster.start(createTaintEvictionController())
  await cluster.advance(1_000)
  await body(cluster)
}

const addJob = (cluster: Cluster, name: string, command: readonly string[], spec: object = {}) =>
  cluster.run(
    cluster.client.create(Job, {
      metadata: { namespace, name },
      spec: {
        template: {
          spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'busybox', command }] },
        },
        ...spec,
      },
    } as never),
  )

const addPod = (cluster: Cluster, name: string, container: object, spec: object = {}) =>
  cluster.run(
    cluster.client.create(Pod, {
      metadata: { namespace, name },
      spec: { containers: [{ name: 'main', image: 'busybox', ...container }], ...spec },
    } as never),
  )

const podOf = async (cluster: Cluster, name: string) =>
  (await cluster.run(cluster.client.get(Pod, { namespace, name })))!

async function outcomeOf(cluster: Cluster, name: string): Promise<string> {
  const { status } = (await cluster.run(cluster.client.get(Job, { namespace, name })))!
  const end = status?.conditions?.find(
    condition => ['Complete', 'Failed'].includes(condition.type) && condition.status === 'True',
  )
  return `${end?.type} ${end?.reason} ${status?.succeeded ?? 0}/${status?.failed ?? 0}`
}

describe('on simulated nodes', () => {
  it('Jobs run as long as their commands', async () => {
    await withNodes(async cluster => {
      await addJob(cluster, 'slow', ['sh', '-c', 'echo begin; sleep 300'])
      await cluster.advance(290_000)
      assert.equal(await outcomeOf(cluster, 'slow'), 'undefined undefined 0/0')
      await cluster.advance(15_000)
      assert.equal(await outcomeOf(cluster, 'slow'), 'Complete CompletionsReached 1/0')
    })
  })

  it('Jobs fail with the exit codes of their commands', async () => {
    await withNodes(async cluster => {
      await addJob(cluster, 'broken', ['/bin/sh', '-c', 'exit 3'], { backoffLimit: 1 })
      await addJob(cluster, 'late', ['sleep', '1h'], { activeDeadlineSeconds: 30 })
      const onExitCodes = { operator: 'In', values: [42] }
      await addJob(cluster, 'policy', ['sh', '-c', 'sleep 1 && exit 42'], {
        podFailurePolicy: { rules: [{ action: 'FailJob', onExitCodes }] },
      })
      await cluster.advance(120_000)
      assert.equal(await outcomeOf(cluster, 'broken'), 'Failed BackoffLimitExceeded 0/2')
      assert.equal(await outcomeOf(cluster, 'late'), 'Failed DeadlineExceeded 0/1')
      assert.equal(await outcomeOf(cluster, 'policy'), 'Failed PodFailurePolicy 0/1')
    })
  })

  it('containers that keep exiting are in CrashLoopBackOff', async () => {
    await withNodes(async cluster => {
      await addPod(cluster, 'crashing', { command: ['false'] })
      await cluster.advance(60_000)
      const [status] = (await podOf(cluster, 'crashing')).status?.containerStatuses ?? []
      assert.equal(status?.state?.waiting?.reason, 'CrashLoopBackOff')
      assert.equal(status?.lastState?.terminated?.exitCode, 1)
      assert.ok((status?.restartCount ?? 0) >= 2)
    })
  })

  it('images that do not exist cannot be pulled', async () => {
    await withNodes(async cluster => {
      await addPod(cluster, 'imageless', { image: 'nginx:404' })
      const seen = new Set<string | undefined>()
      for (let second = 0; second < 30; second++) {
        await cluster.advance(1_000)
        const { status } = await podOf(cluster, 'imageless')
        assert.equal(status?.phase, 'Pending')
        seen.add(status?.containerStatuses?.[0]?.state?.waiting?.reason)
      }
      assert.ok(seen.has('ErrImagePull') && seen.has('ImagePullBackOff'), [...seen].join())
    })
  })

  it('int64 fields beyond 2^53 are accepted as long durations', async () => {
    await withNodes(async cluster => {
      const forever = 9223372036854775807n
      await addJob(cluster, 'patient', ['sleep', '5'], { activeDeadlineSeconds: forever })
      const tolerations = [{ operator: 'Exists', effect: 'NoExecute', tolerationSeconds: forever }]
      await addPod(cluster, 'tolerant', {}, { tolerations, terminationGracePeriodSeconds: forever })
      await cluster.advance(15_000)
      assert.equal(await outcomeOf(cluster, 'patient'), 'Complete CompletionsReached 1/0')
      const taints = [{ key: 'broken', effect: 'NoExecute' }]
      await cluster.run(
        cluster.client.patch(Node, { name: 'node-1' }, { spec: { taints } }, { type: 'merge' }),
      )
      await cluster.advance(20_000)
      assert.equal((await podOf(cluster, 'tolerant')).status?.phase, 'Running')
    })
  })
})
