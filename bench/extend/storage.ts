import { defineKind, s } from '@coxswain/apimachinery/kinds'
import type { ApiObject } from '@coxswain/apimachinery/meta'
import { createRealEnv, encodeText } from '@coxswain/kit'
import { createMemoryStorage, createOwnApiServer, defineApiServer, defineResource } from '@coxswain/server'
import type { BenchCase } from '../harness.ts'

const group = 'shop.example.com'
const versions = { v1: { storage: true, spec: s.object({ text: s.string() }) } } as const
const Kept = defineKind({ group, kind: 'Kept', plural: 'kept', versions })
const Own = defineKind({ group, kind: 'Own', plural: 'own', versions })
const peer = { commonName: 'admin', organizations: ['system:masters'], notAfter: Number.MAX_SAFE_INTEGER }
const perRound = 1_000

/** CPU of a create in a storage of the author's, beside one in the server's own store: both in memory. */
export async function storageCases(stack: AsyncDisposableStack): Promise<BenchCase[]> {
  const storage = createMemoryStorage<ApiObject>()
  const definition = defineApiServer({
    groups: { [group]: [defineResource(Kept.v1), defineResource(Own.v1, { storage: storage as never })] },
  })
  const server = createOwnApiServer(definition, { env: createRealEnv() })
  const stop = new AbortController()
  const running = server.run(stop.signal)
  stack.defer(() => running)
  stack.defer(() => stop.abort())
  await server.ready
  let made = 0
  const create = async (kind: string, resource: string) => {
    const name = `o${made++}`
    const body = { apiVersion: `${group}/v1`, kind, metadata: { name }, spec: { text: 'x'.repeat(500) } }
    const { status } = await server.handler({
      method: 'POST',
      path: `/apis/${group}/v1/namespaces/default/${resource}`,
      query: '',
      headers: { 'content-type': 'application/json' },
      body: encodeText(JSON.stringify(body)),
      peer,
      signal: stop.signal,
    })
    if (status !== 201) throw new Error(`a create was answered ${status}`)
  }
  const measure = (kind: string, resource: string) => async () => {
    const before = process.cpuUsage()
    for (let i = 0; i < perRound; i++) await create(kind, resource)
    const { user, system } = process.cpuUsage(before)
    return (user + system) / perRound
  }
  return [
    {
      name: 'a create in a storage of the author',
      unit: 'µs CPU',
      measure: measure('Own', 'own'),
      reference: { name: 'the server’s store', measure: measure('Kept', 'kept') },
      goal: { of: 'ratio', atMost: 1.1 },
    },
  ]
}
