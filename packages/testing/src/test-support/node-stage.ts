import assert from 'node:assert/strict'
import { type ContainerStatus, Event, Pod } from '@coxswain/api/core/v1'
import { decodeText, VirtualWorld } from '@coxswain/kit'
import type { Kubelet } from '@coxswain/kubelet'
import { type Cluster, startCluster } from '../cluster.ts'

/** A cluster with an agent and nothing else that concerns Pods: they are given their nodes by hand. */
export interface NodeStage {
  readonly cluster: Cluster
  readonly agent: Kubelet
  /** Stops the kubelet; its containers end. */
  readonly stop: () => Promise<void>
}

export async function onNodes(
  agentOf: (cluster: Cluster) => Kubelet,
  body: (stage: NodeStage) => Promise<void>,
): Promise<void> {
  await using cluster = await startCluster({ env: new VirtualWorld({ seed: 11 }) })
  const agent = agentOf(cluster)
  const stop = cluster.start(agent.operator)
  await cluster.advance(1_000)
  await body({ cluster, agent, stop })
}

export async function addPod(
  cluster: Cluster,
  name: string,
  spec: object = {},
  annotations: Record<string, string> = {},
): Promise<void> {
  await cluster.run(
    cluster.client.create(Pod, {
      metadata: { name, namespace: 'default', labels: { app: name }, annotations },
      spec: {
        nodeName: 'node-1',
        automountServiceAccountToken: false,
        containers: [{ name: 'main', image: 'server' }],
        ...spec,
      },
    }),
  )
}

/** A Pod of one container. */
export const one = (image: string, extras: object = {}): object => ({
  containers: [{ name: 'main', image, ...extras }],
})

export async function find(cluster: Cluster, name: string): Promise<Pod> {
  const pod = await cluster.run(cluster.client.get(Pod, { namespace: 'default', name }))
  assert.ok(pod, `there is no pod ${name}`)
  return pod
}

export const gone = async (cluster: Cluster, name: string): Promise<boolean> =>
  (await cluster.run(cluster.client.get(Pod, { namespace: 'default', name }))) === undefined

export async function eventsOf(cluster: Cluster, name: string): Promise<string[]> {
  const { items } = await cluster.run(cluster.client.list(Event, { namespace: 'default' }))
  return items
    .filter(({ involvedObject }) => involvedObject.name === name)
    .map(({ reason, message }) => `${reason}: ${message}`)
}

export async function logOf(
  { cluster, agent }: NodeStage,
  name: string,
  options: { previous?: boolean; container?: string } = {},
): Promise<string> {
  const read = async () => {
    const { previous = false, container = 'main' } = options
    const signal = new AbortController().signal
    const address = { namespace: 'default', name }
    const log = await agent.connection.readLog(address, container, {
      follow: false,
      timestamps: false,
      previous,
      signal,
    })
    let text = ''
    for await (const chunk of log) text += decodeText(chunk)
    return text
  }
  return await cluster.run(read())
}

export const conditionsOf = ({ status }: Pod): Record<string, string> =>
  Object.fromEntries((status?.conditions ?? []).map(({ type, status: is }) => [type, is]))
export const mainOf = ({ status }: Pod): ContainerStatus => status!.containerStatuses![0]!
