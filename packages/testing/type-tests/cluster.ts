/** What the compiler must accept and refuse: checked by `npm run typecheck`, never run. */
import type { Event } from '@coxswain/api/core/v1'
import { ConfigMap, Pod } from '@coxswain/api/core/v1'
import type { Client } from '@coxswain/client'
import { type Applied, type RecordedReconcile, startCluster } from '@coxswain/testing'

const key = { namespace: 'default', name: 'a' }

export async function matchers(): Promise<void> {
  await using cluster = await startCluster({ controllers: ['*', '-job-controller'], nodes: 1 })
  const pod: Pod = await cluster.expect(Pod, key).toHave({
    metadata: { labels: { app: 'web' } },
    spec: { nodeName: /^node-/, containers: [{ name: 'main' }] },
    status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }], reason: undefined },
  })
  await cluster
    .expect(ConfigMap, key)
    .eventually({ within: 1_000 })
    .toMatch(({ data }) => data?.x === 'y')
  const missing: Promise<void> = cluster.expect(Pod, key).consistently({ during: 1_000 }).toBeMissing()
  await missing
  // @ts-expect-error: no such field
  await cluster.expect(Pod, key).toHave({ status: { fase: 'Running' } })
  // @ts-expect-error: a number is not a string
  await cluster.expect(Pod, key).toHave({ status: { phase: 1 } })
  // @ts-expect-error: a ConfigMap has no spec
  await cluster.expect(ConfigMap, key).toMatch(({ spec }) => spec !== undefined)
  // @ts-expect-error: eventually waits, it does not wait within a wait
  cluster.expect(Pod, key).eventually().eventually()
  const events: readonly Event[] = await cluster.events(pod)
  const records: readonly RecordedReconcile[] = cluster.reconciles(pod)
  const number: number = await cluster.eventually(async () => events.length + records.length)
  await cluster.consistently(() => number > 0)
}

export async function users(): Promise<void> {
  await using cluster = await startCluster({ images: { greeter: async ({ print }) => print('hello') } })
  const clients: Client[] = [
    cluster.as('jane'),
    cluster.as({ name: 'jane', groups: ['devs'] }),
    cluster.as({ serviceAccount: 'default/greeter' }),
  ]
  // @ts-expect-error: a user has a name
  clients.push(cluster.as({ groups: ['devs'] }))
  const applied: readonly Applied[] = await cluster.apply([
    'config/',
    { apiVersion: 'v1', kind: 'Pod' } as Pod,
  ])
  applied.map(({ metadata }) => metadata.name.length)
  // @ts-expect-error: manifests are paths, text and objects
  await cluster.apply(1)
  // @ts-expect-error: all, a list, or a choice
  await startCluster({ controllers: 'some' })
}
