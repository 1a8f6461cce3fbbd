/**
 * `server-child.ts DIRECTORY COUNT`: a server in this process on the store in DIRECTORY. With COUNT it makes so many
 * definitions first; else it prints how long it took to be ready, and the bytes of its heap then.
 */
import { createApiServer } from '@coxswain/apiserver'
import { createRealEnv, TaskGroup } from '@coxswain/kit'
import { openSqliteStore } from '@coxswain/storage/sqlite'
import { makeDefinition } from './definitions.ts'

const [directory = '', count = '0'] = process.argv.slice(2)
const peer = { commonName: 'admin', organizations: ['system:masters'], notAfter: Number.MAX_SAFE_INTEGER }
const env = createRealEnv()
const started = performance.now()
const store = await openSqliteStore({ directory })
const server = createApiServer({ env, store })
await using group = new TaskGroup()
group.spawn(signal => server.run(signal))
await server.ready
const ready = performance.now() - started
let bytes = 0
for (let i = 0; i < Number(count); i++) {
  const body = new TextEncoder().encode(JSON.stringify(makeDefinition(i)))
  bytes += body.length
  const answer = await server.handler({
    method: 'POST',
    path: '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
    query: '',
    headers: { 'content-type': 'application/json' },
    body,
    peer,
    signal: group.signal,
  })
  if (answer.status !== 201) throw new Error(new TextDecoder().decode(answer.body as Uint8Array))
}
if (count !== '0') await env.clock.sleep(2_000)
globalThis.gc?.()
globalThis.gc?.()
const { heapUsed, external } = process.memoryUsage()
process.stdout.write(JSON.stringify({ ready, heap: heapUsed + external, bytes }))
group.abort()
await group.join()
await store.close()
