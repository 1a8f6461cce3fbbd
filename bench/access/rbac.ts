import { type AuthorizerFactory, alwaysAllow, createApiServer, defaultAuthorizer } from '@coxswain/apiserver'
import { createRealEnv, TaskGroup } from '@coxswain/kit'
import { createMemoryStore } from '@coxswain/storage'
import type { Handler, WireRequest } from '@coxswain/wire'
import type { BenchCase } from '../harness.ts'

const group = 'rbac.authorization.k8s.io'
const bindings = 1000
const gets = 20_000
const objectPath = '/api/v1/namespaces/default/configmaps/c'

/** A server in this process with a ConfigMap of 2 KB, a user who may read it, and a thousand bindings besides. */
async function startServer(stack: AsyncDisposableStack, authorizer: AuthorizerFactory): Promise<Handler> {
  const env = createRealEnv()
  const store = stack.use(createMemoryStore({ env }))
  const server = createApiServer({ env, store, authorizer })
  const tasks = new TaskGroup()
  tasks.spawn(signal => server.run(signal))
  stack.defer(async () => {
    tasks.abort()
    await tasks.join()
  })
  await server.ready
  const admin = peerOf('admin', 'system:masters')
  const post = async (path: string, body: unknown) => {
    const request = requestOf('POST', path, admin)
    const { status } = await server.handler({
      ...request,
      body: new TextEncoder().encode(JSON.stringify(body)),
    })
    if (status !== 201) throw new Error(`POST ${path}: ${status}`)
  }
  await post('/api/v1/namespaces/default/configmaps', {
    metadata: { name: 'c' },
    data: { k: 'x'.repeat(2000) },
  })
  const base = `/apis/${group}/v1`
  const rules = [{ verbs: ['get'], apiGroups: [''], resources: ['configmaps'] }]
  await post(`${base}/clusterroles`, { metadata: { name: 'reader' }, rules })
  for (let index = 0; index < bindings; index++) {
    const roleRef = { apiGroup: group, kind: 'ClusterRole', name: index === 500 ? 'reader' : 'view' }
    const subjects = [{ kind: 'User', name: `user-${index}` }]
    const isCluster = index % 2 === 0
    await post(isCluster ? `${base}/clusterrolebindings` : `${base}/namespaces/default/rolebindings`, {
      metadata: { name: `b-${index}` },
      roleRef,
      subjects,
    })
  }
  return server.handler
}

export async function rbacCases(stack: AsyncDisposableStack): Promise<BenchCase[]> {
  const withRbac = await startServer(stack, defaultAuthorizer)
  const withoutAny = await startServer(stack, () => alwaysAllow)
  return [
    {
      name: 'get, RBAC with the bootstrap roles and 1,000 bindings',
      unit: 'µs',
      measure: () => measureGet(withRbac, gets),
      reference: { name: 'AlwaysAllow', measure: () => measureGet(withoutAny, gets) },
      goal: { of: 'ratio', atMost: 1.1 },
    },
  ]
}

const peerOf = (commonName: string, ...organizations: string[]): NonNullable<WireRequest['peer']> => ({
  commonName,
  organizations,
  notAfter: Number.MAX_SAFE_INTEGER,
})

function requestOf(method: string, path: string, peer: NonNullable<WireRequest['peer']>): WireRequest {
  const headers = { 'content-type': 'application/json', accept: 'application/json' }
  return { method, path, query: '', headers, peer, signal: new AbortController().signal }
}

/** Microseconds for one get by a user outside system:masters. */
async function measureGet(handle: Handler, gets: number): Promise<number> {
  const request = requestOf('GET', objectPath, peerOf('user-500', 'devs', 'ops'))
  const start = performance.now()
  for (let done = 0; done < gets; done++) {
    const { status } = await handle(request)
    if (status !== 200) throw new Error(`GET ${objectPath}: ${status}`)
  }
  return ((performance.now() - start) * 1000) / gets
}
