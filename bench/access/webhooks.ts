import { createApiServer } from '@coxswain/apiserver'
import { createRealEnv, TaskGroup } from '@coxswain/kit'
import { createMemoryStore } from '@coxswain/storage'
import { createInProcessTransport, discardBody } from '@coxswain/wire'
import type { BenchCase } from '../harness.ts'

const admin = { commonName: 'admin', organizations: ['system:masters'], notAfter: Number.MAX_SAFE_INTEGER }
const creates = 2000

/** What webhooks cost a create that none of them is about. */
export async function webhookCases(stack: AsyncDisposableStack): Promise<readonly BenchCase[]> {
  const bare = await startServer(stack)
  const selecting = await startServer(stack)
  const conditional = await startServer(stack)
  await register(selecting, [
    { rules: [{ ...rule, apiGroups: ['apps'], resources: ['deployments'] }] },
    { namespaceSelector: { matchLabels: { watched: 'yes' } } },
    { objectSelector: { matchLabels: { watched: 'yes' } } },
  ])
  const matchConditions = [{ name: 'c', expression: "object.metadata.name == 'missing'" }]
  await register(conditional, [{ matchConditions }, { matchConditions }, { matchConditions }])
  const reference = { name: 'without webhooks', measure: () => measureCreates(bare) }
  return [
    {
      name: 'a create beside three webhooks of each kind whose rules and selectors do not match',
      unit: 'us',
      measure: () => measureCreates(selecting),
      reference,
      goal: { of: 'ratio', atMost: 1.05 },
    },
    {
      // No goal: each condition is evaluated for each request. Six of them here.
      name: 'a create beside three webhooks of each kind whose conditions do not match',
      unit: 'us',
      measure: () => measureCreates(conditional),
      reference,
    },
  ]
}

const rule = { operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'] }

async function register(server: BenchServer, webhooks: readonly object[]): Promise<void> {
  for (const kind of ['mutating', 'validating']) {
    const path = `/apis/admissionregistration.k8s.io/v1/${kind}webhookconfigurations`
    for (const [index, webhook] of webhooks.entries()) {
      const hook = {
        name: `hook-${index}.example.com`,
        clientConfig: { url: 'https://127.0.0.1:1/' },
        admissionReviewVersions: ['v1'],
        sideEffects: 'None',
        rules: [rule],
        ...webhook,
      }
      await server.send('POST', path, { metadata: { name: `hook-${index}` }, webhooks: [hook] })
    }
  }
}

type BenchServer = Awaited<ReturnType<typeof startServer>>

async function startServer(stack: AsyncDisposableStack) {
  const env = createRealEnv()
  const store = createMemoryStore({ env })
  const server = createApiServer({ env, store })
  const group = new TaskGroup()
  stack.defer(async () => {
    group.abort()
    await group.join()
    await store.close()
  })
  group.spawn(signal => server.run(signal))
  await server.ready
  const transport = createInProcessTransport(server.handler, env, { peer: admin })
  let count = 0
  return {
    nextName: () => `map-${count++}`,
    async send(method: string, path: string, body: unknown): Promise<void> {
      const answer = await transport.send({
        method,
        path,
        query: '',
        headers: { 'content-type': 'application/json' },
        body: new TextEncoder().encode(JSON.stringify(body)),
        signal: group.signal,
      })
      await discardBody(answer.body)
      if (answer.status !== 201) throw new Error(`${method} ${path}: ${answer.status}`)
    },
  }
}

/** Microseconds a create, one after the other. */
async function measureCreates(server: BenchServer): Promise<number> {
  const began = performance.now()
  for (let i = 0; i < creates; i++) {
    const body = { metadata: { name: server.nextName() }, data: { key: 'value' } }
    await server.send('POST', '/api/v1/namespaces/default/configmaps', body)
  }
  return ((performance.now() - began) * 1000) / creates
}
