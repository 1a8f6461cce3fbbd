import { createApiServer } from '@coxswain/apiserver'
import { createRealEnv, TaskGroup } from '@coxswain/kit'
import { createMemoryStore } from '@coxswain/storage'
import type { Handler, WireRequest } from '@coxswain/wire'
import type { BenchCase } from '../harness.ts'

const path = '/api/v1/namespaces/default/configmaps'
const gets = 10_000
const creates = 2_000

export const peerOf = (commonName: string, ...organizations: string[]): NonNullable<WireRequest['peer']> => ({
  commonName,
  organizations,
  notAfter: Number.MAX_SAFE_INTEGER,
})

export function requestOf(
  method: string,
  where: string,
  peer: NonNullable<WireRequest['peer']>,
  object?: unknown,
): WireRequest {
  const headers = { 'content-type': 'application/json', accept: 'application/json', 'user-agent': 'bench' }
  return {
    method,
    path: where,
    query: '',
    headers,
    peer,
    remoteAddress: '127.0.0.1',
    signal: new AbortController().signal,
    ...(object !== undefined && { body: new TextEncoder().encode(JSON.stringify(object)) }),
  }
}

/** A server in this process, with or without an audit log at level Metadata whose events become lines of text. */
async function startServer(stack: AsyncDisposableStack, isAudited: boolean): Promise<Handler> {
  const env = createRealEnv()
  const store = stack.use(createMemoryStore({ env }))
  let written = 0
  const backend = {
    write: (event: object) => {
      written += JSON.stringify(event).length
    },
    async [Symbol.asyncDispose]() {},
  }
  const policy = { rules: [{ level: 'Metadata' as const }] }
  const server = createApiServer({ env, store, ...(isAudited && { audit: { policy, backends: [backend] } }) })
  const tasks = new TaskGroup()
  tasks.spawn(signal => server.run(signal))
  stack.defer(async () => {
    tasks.abort()
    await tasks.join()
    if (isAudited && written === 0) throw new Error('nothing was written to the audit log')
  })
  await server.ready
  const object = { metadata: { name: 'c' }, data: { k: 'x'.repeat(2000) } }
  await server.handler(requestOf('POST', path, peerOf('admin', 'system:masters'), object))
  return server.handler
}

let names = 0

async function measure(handle: Handler, method: 'GET' | 'POST', count: number): Promise<number> {
  const admin = peerOf('admin', 'system:masters')
  const start = performance.now()
  for (let done = 0; done < count; done++) {
    const object = { metadata: { name: `c-${names++}` }, data: { k: 'x'.repeat(2000) } }
    const request =
      method === 'GET' ? requestOf('GET', `${path}/c`, admin) : requestOf('POST', path, admin, object)
    const { status } = await handle(request)
    if (status >= 300) throw new Error(`${method}: ${status}`)
  }
  return ((performance.now() - start) * 1000) / count
}

export async function auditCases(stack: AsyncDisposableStack): Promise<BenchCase[]> {
  const audited = await startServer(stack, true)
  const silent = await startServer(stack, false)
  const caseOf = (name: string, method: 'GET' | 'POST', count: number, goal: boolean): BenchCase => ({
    name,
    unit: 'µs',
    measure: () => measure(audited, method, count),
    reference: { name: 'no audit', measure: () => measure(silent, method, count) },
    ...(goal && { goal: { of: 'ratio', atMost: 1.15 } }),
  })
  return [
    caseOf('create, audit at level Metadata', 'POST', creates, true),
    caseOf('get in process (no TLS, no HTTP), audit at level Metadata', 'GET', gets, false),
  ]
}
