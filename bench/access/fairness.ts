import { createApiServer } from '@coxswain/apiserver'
import { createRealEnv, TaskGroup } from '@coxswain/kit'
import { createMemoryStore } from '@coxswain/storage'
import type { Handler } from '@coxswain/wire'
import type { BenchCase } from '../harness.ts'
import { peerOf, requestOf } from './audit.ts'

const path = '/api/v1/namespaces/default/configmaps'
const limits = { readOnly: 40, mutating: 20 }
const requests = 200

/** A server with sixty seats, and two users who may write ConfigMaps. */
async function startServer(stack: AsyncDisposableStack): Promise<Handler> {
  const env = createRealEnv()
  const store = stack.use(createMemoryStore({ env }))
  const server = createApiServer({ env, store, limits: { inFlight: limits } })
  const tasks = new TaskGroup()
  tasks.spawn(signal => server.run(signal))
  stack.defer(async () => {
    tasks.abort()
    await tasks.join()
  })
  await server.ready
  const binding = {
    metadata: { name: 'bench' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
    subjects: [
      { kind: 'User', name: 'noisy' },
      { kind: 'User', name: 'quiet' },
    ],
  }
  const bindings = '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings'
  await server.handler(requestOf('POST', bindings, peerOf('admin', 'system:masters'), binding))
  return server.handler
}

let names = 0

/** The 99th percentile of how long the quiet user waits for a create, in milliseconds, beside `noise` others at once. */
async function measure(handle: Handler, noise: number): Promise<number> {
  let isOver = false
  const create = async (user: string) =>
    await handle(requestOf('POST', path, peerOf(user), { metadata: { name: `${user}-${names++}` } }))
  const noisy = Array.from({ length: noise }, async () => {
    while (!isOver) {
      const { status } = await create('noisy')
      if (status === 429) await new Promise(resolve => setTimeout(resolve, 10))
    }
  })
  const waits: number[] = []
  for (let done = 0; done < requests; done++) {
    const start = performance.now()
    const { status } = await create('quiet')
    if (status !== 201) throw new Error(`the quiet user got ${status}`)
    waits.push(performance.now() - start)
  }
  isOver = true
  await Promise.all(noisy)
  return waits.sort((a, b) => a - b)[Math.floor(requests * 0.99)]!
}

export async function fairnessCases(stack: AsyncDisposableStack): Promise<BenchCase[]> {
  const handle = await startServer(stack)
  const seats = limits.readOnly + limits.mutating
  return [
    {
      name: 'p99 of a quiet user, a noisy one at ten times the limit',
      unit: 'ms',
      measure: () => measure(handle, 10 * seats),
      reference: { name: 'a noisy one at the limit', measure: () => measure(handle, seats) },
      goal: { of: 'ratio', atMost: 2 },
    },
  ]
}
