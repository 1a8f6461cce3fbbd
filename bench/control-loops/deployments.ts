import { setTimeout as sleep } from 'node:timers/promises'
import { Deployment } from '@coxswain/api/apps/v1'
import { Node, Pod } from '@coxswain/api/core/v1'
import type { Client } from '@coxswain/client'

const namespace = 'default'
const patience = 300_000

/** Looks again and again, seldom enough not to be in the way. */
async function until(isSo: () => Promise<boolean>, what: string): Promise<void> {
  for (const end = performance.now() + patience; performance.now() < end; await sleep(100)) {
    if (await isSo()) return
  }
  throw new Error(`not within ${patience} ms: ${what}`)
}

/** The server counts: a list of one tells how many more there are. */
async function countPods(client: Client): Promise<number> {
  const { items, metadata } = await client.list(Pod, { namespace, limit: 1 })
  return items.length + Number(metadata?.remainingItemCount ?? 0)
}

const isRunning = async (client: Client, name: string, replicas: number): Promise<boolean> => {
  const deployment = await client.get(Deployment, { namespace, name })
  const { observedGeneration = 0, availableReplicas = 0, updatedReplicas = 0 } = deployment?.status ?? {}
  return (
    observedGeneration === deployment?.metadata.generation &&
    availableReplicas === replicas &&
    updatedReplicas === replicas &&
    deployment.status?.replicas === replicas
  )
}

export async function nodesReady(client: Client, count: number): Promise<void> {
  await until(async () => {
    const { items } = await client.list(Node)
    const ready = items.filter(({ spec, status }) => {
      const condition = status?.conditions?.find(({ type }) => type === 'Ready')
      return condition?.status === 'True' && !spec?.taints?.length
    })
    return ready.length >= count
  }, `${count} nodes are ready`)
}

/** Milliseconds from the creation to all pods running. */
export async function createDeployment(client: Client, name: string, replicas: number): Promise<number> {
  const labels = { app: name }
  const started = performance.now()
  await client.create(Deployment, {
    metadata: { namespace, name },
    spec: {
      replicas,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'one' }] } },
    },
  })
  await until(() => isRunning(client, name, replicas), `${replicas} pods of ${name} are running`)
  return performance.now() - started
}

/** Milliseconds from the change to all pods being new. */
export async function rollOut(client: Client, name: string, replicas: number): Promise<number> {
  const started = performance.now()
  const annotations = { 'example.com/rolled-out': `${performance.timeOrigin + started}` }
  await client.patch(
    Deployment,
    { namespace, name },
    { spec: { template: { metadata: { annotations } } } },
    { type: 'merge' },
  )
  await until(() => isRunning(client, name, replicas), `${name} is rolled out`)
  return performance.now() - started
}

export async function deleteDeployment(client: Client, name: string): Promise<void> {
  await client.delete(Deployment, { namespace, name })
  await until(async () => (await countPods(client)) === 0, `the pods of ${name} are deleted`)
}
