import { describe } from 'node:test'
import { ConfigMap, Node, Pod } from '@coxswain/api/core/v1'
import { createKubelet, createSimulatedRuntime } from '@coxswain/kubelet'
import type { Cluster } from '@coxswain/testing'
import { addPod, one } from '@coxswain/testing/test-support/node-stage'
import { scenariosOf } from '@coxswain/testing/test-support/play'

const namespace = 'default'
const annotation = (word: string, value: string) => ({ [`simulated.coxswain.dev/${word}`]: value })
const remove = (cluster: Cluster, name: string) =>
  cluster.run(cluster.client.delete(Pod, { namespace, name }))

/** The node as `node-1 ready`; pods as `name phase ready`, with the exit codes of containers that were not stopped. */
async function look(cluster: Cluster): Promise<string[]> {
  const { items: nodes } = await cluster.run(cluster.client.list(Node))
  const { items: pods } = await cluster.run(cluster.client.list(Pod, { namespace }))
  const ready = (conditions: readonly { type: string; status: string }[] = []) =>
    conditions.find(({ type }) => type === 'Ready')?.status
  return [
    ...nodes.map(({ metadata, status }) => `${metadata.name} ${ready(status?.conditions)}`),
    ...pods.map(({ metadata, status }) => {
      const ends = (status?.containerStatuses ?? []).flatMap(({ state }) => {
        const { exitCode } = state?.terminated ?? {}
        return exitCode === undefined ? [] : [exitCode > 128 ? 'stopped' : exitCode]
      })
      return [metadata.name, status?.phase, ready(status?.conditions), ...ends].join(' ')
    }),
  ].sort()
}

describe('the kubelet, under faults', () => {
  const scenario = scenariosOf('kubelet', {
    controllers: () => [
      createKubelet({ runtime: createSimulatedRuntime({ missingImages: ['lost'] }) }).operator,
    ],
    look,
    keepsTrying: true, // leases are renewed
  })

  scenario('registers its node and runs pods', {
    act: async cluster => {
      await addPod(cluster, 'a')
      await addPod(cluster, 'b')
    },
    end: ['a Running True', 'b Running True', 'node-1 True'],
  })

  scenario('ends pods by their exit codes', {
    act: async cluster => {
      await addPod(cluster, 'good', { restartPolicy: 'Never' })
      await addPod(cluster, 'bad', { restartPolicy: 'Never' }, annotation('exit-code', '3'))
      await addPod(cluster, 'long', { restartPolicy: 'OnFailure' }, annotation('run-for', '20s'))
      await cluster.advance(60_000)
    },
    end: ['bad Failed False 3', 'good Succeeded False 0', 'long Succeeded False 0', 'node-1 True'],
  })

  scenario('runs init containers before the others', {
    act: async cluster => {
      const initContainers = [
        { name: 'side', image: 'i', restartPolicy: 'Always' },
        { name: 'first', image: 'i' },
      ]
      await addPod(cluster, 'a', { initContainers }, annotation('run-for.first', '5s'))
    },
    end: ['a Running True', 'node-1 True'],
  })

  scenario('waits for what is missing', {
    act: async cluster => {
      await addPod(cluster, 'image', one('lost'))
      const volumes = [{ name: 'v', configMap: { name: 'c' } }]
      await addPod(cluster, 'volume', { ...one('i'), volumes })
      const env = [{ name: 'A', valueFrom: { configMapKeyRef: { name: 'c', key: 'a' } } }]
      await addPod(cluster, 'variable', one('i', { env }))
      await cluster.advance(20_000)
      const metadata = { namespace, name: 'c' }
      await cluster.run(cluster.client.create(ConfigMap, { metadata, data: { a: '1' } }))
      await cluster.advance(300_000)
    },
    end: ['image Pending False', 'node-1 True', 'variable Running True', 'volume Running True'],
  })

  scenario('lets deleted pods go, and a successor of the same name begin', {
    act: async cluster => {
      await addPod(cluster, 'a')
      await addPod(cluster, 'slow', one('i', { lifecycle: { preStop: { sleep: { seconds: 5 } } } }))
      await cluster.advance(10_000)
      for (const name of ['a', 'slow']) await remove(cluster, name)
      await cluster.advance(60_000)
      await addPod(cluster, 'a')
    },
    end: ['a Running True', 'node-1 True'],
  })

  scenario('stops a pod at its deadline', {
    act: async cluster => {
      await addPod(
        cluster,
        'a',
        { restartPolicy: 'Never', activeDeadlineSeconds: 20 },
        annotation('run-for', '1h'),
      )
      await cluster.advance(60_000)
    },
    end: ['a Failed False stopped', 'node-1 True'],
  })
})
