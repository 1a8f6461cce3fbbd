import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { TaskGroup, VirtualWorld } from '@coxswain/kit'
import { createMemoryStore } from '@coxswain/storage'
import { createInProcessTransport, discardBody, readBody, type WireHeaders } from '@coxswain/wire'
import { createApiServer } from './server.ts'

const notAfter = Number.MAX_SAFE_INTEGER
const admin = { commonName: 'admin', organizations: ['system:masters'], notAfter }

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

/** A different text for each number. */
const text = (index: number, length: number) =>
  `x${index}`.padEnd(length, String.fromCharCode(97 + (index % 26)))

interface Hostile {
  readonly method: string
  readonly path: string
  readonly query?: string
  readonly headers?: WireHeaders
  readonly body?: Uint8Array
}

const length = 100_000

/** Each differs for each number, in everything that a client chooses. */
const shapes: readonly ((index: number) => Hostile)[] = [
  index => ({ method: 'GET', path: `${'/'.repeat(length + index)}metrics` }),
  index => ({ method: 'GET', path: `/healthz${'/'.repeat(length + index)}` }),
  index => ({ method: 'GET', path: `/livez/${text(index, length)}` }),
  index => ({ method: 'GET', path: `/%61pi${'/'.repeat(length + index)}` }),
  index => ({ method: 'GET', path: `/apis/${text(index, length)}/v1/things` }),
  index => ({ method: 'GET', path: `/apis/apps/${text(index, length)}/deployments` }),
  index => ({ method: 'GET', path: `/api/v1/${text(index, length)}` }),
  index => ({ method: 'GET', path: `/api/v1/namespaces/${text(index, length)}/pods` }),
  index => ({ method: 'GET', path: `/api/v1/namespaces/default/pods/a/${text(index, length)}` }),
  index => ({ method: 'GET', path: `/openapi/v3/${text(index, length)}`, query: `hash=${index}` }),
  index => ({ method: text(index, length).toUpperCase(), path: '/api/v1/namespaces/default/pods' }),
  index => ({ method: text(index, length), path: '/healthz' }),
  index => ({ method: 'GET', path: '/version', query: `${text(index, length)}=${text(index, length)}` }),
  index => ({ method: 'POST', path: '/api/v1/namespaces', query: `dryRun=${text(index, length)}` }),
  index => ({ method: 'GET', path: '/api/v1/pods', query: `watch=1&timeout=${text(index, length)}` }),
  index => ({ method: 'GET', path: '/api/v1/pods', query: `labelSelector=a%3D${text(index, length)}` }),
  index => ({ method: 'GET', path: '/api/v1/pods', query: `continue=${text(index, length)}` }),
  index => ({ method: 'GET', path: '/version', headers: { 'user-agent': text(index, length) } }),
  index => ({ method: 'GET', path: '/api/v1/pods', headers: { accept: `${text(index, length)}/*` } }),
  index => ({ method: 'GET', path: '/version', headers: { 'audit-id': text(index, length) } }),
  index => ({ method: 'GET', path: '/version', headers: { [text(index, length)]: text(index, length) } }),
  index => ({ method: 'GET', path: '/version', headers: { authorization: `Bearer ${text(index, 60_000)}` } }),
  index => ({ method: 'GET', path: '/version', headers: { 'impersonate-user': text(index, length) } }),
  index => ({ method: 'GET', path: '/version', headers: { 'if-none-match': text(index, length) } }),
]

const inherited = ['constructor', 'toString', '__proto__', 'hasOwnProperty', 'valueOf']

const encode = (value: object) => new TextEncoder().encode(JSON.stringify(value))

async function start() {
  const world = new VirtualWorld()
  const store = createMemoryStore({ env: world })
  const server = createApiServer({ env: world, store })
  const group = new TaskGroup()
  group.spawn(signal => server.run(signal))
  await world.run(server.ready)
  const send = async (hostile: Hostile, peer?: typeof admin) => {
    const transport = createInProcessTransport(server.handler, world, peer ? { peer } : {})
    const [path = '', query = ''] = hostile.path.split('?')
    return await world.run(transport.send({ query, headers: {}, signal: group.signal, ...hostile, path }))
  }
  return {
    world,
    send,
    async metrics() {
      const { body } = await send({ method: 'GET', path: '/metrics' }, admin)
      return new TextDecoder().decode(await world.run(readBody(body)))
    },
    async [Symbol.asyncDispose]() {
      group.abort()
      await world.run(group.join())
      await world.run(store.close())
    },
  }
}

describe('requests that try to exhaust the memory', () => {
  it('leave neither /metrics nor the heap larger', async () => {
    await using server = await start()
    const round = async (from: number, to: number) => {
      for (let index = from; index < to; index++) {
        for (const [at, shape] of shapes.entries()) {
          const peer = [undefined, admin, { ...admin, organizations: [], commonName: text(index, 200) }][
            (index + at) % 3
          ]
          const { status, body } = await server.send(shape(index), peer)
          assert.ok(status < 500, `${status} for shape ${at}`)
          await server.world.run(discardBody(body))
        }
      }
    }
    await round(0, 12)
    const before = await server.metrics()
    collectGarbage()
    const heap = process.memoryUsage().heapUsed
    await round(12, 96)
    const after = await server.metrics()
    collectGarbage()
    const grown = process.memoryUsage().heapUsed - heap
    const added = after.split('\n').length - before.split('\n').length
    assert.ok(added < 30, `${added} lines more`)
    assert.ok(after.length < before.length + 10_000, `${after.length - before.length} characters more`)
    assert.ok(!after.includes('xxx') && !/x\d+[a-z]/.test(after), 'a label holds text of a client')
    assert.ok(grown < 16 * 1024 ** 2, `${Math.round(grown / 1024 ** 2)} MiB more on the heap`)
  })

  it('cannot reach names of Object.prototype', async () => {
    await using server = await start()
    const text = async (hostile: Hostile, peer?: typeof admin) => {
      const { status, headers, body } = await server.send(hostile, peer)
      const read = new TextDecoder().decode(await server.world.run(readBody(body)))
      return { status, text: `${JSON.stringify(headers)} ${read}` }
    }
    const post = (path: string, body: object) => text({ method: 'POST', path, body: encode(body) }, admin)
    for (const name of inherited) {
      const method = await text({ method: name, path: '/api/v1/pods' }, admin)
      assert.equal(method.status, 405)
      const refused = await text({ method: name, path: '/api/v1/pods' })
      assert.equal(refused.status, 403)
      assert.doesNotMatch(refused.text, /function|object Object/)
      for (const path of [
        `/api/v1/namespaces/default/pods/a/${name}`,
        `/api/v1/${name}`,
        `/apis/${name}/v1/pods`,
        `/apis/apps/${name}/deployments`,
      ]) {
        assert.equal((await text({ method: 'GET', path }, admin)).status, 404, path)
      }
      const quota = await post('/api/v1/namespaces/default/resourcequotas', {
        metadata: { name: 'a' },
        spec: { hard: { pods: '1' }, scopes: [name] },
      })
      assert.equal(quota.status, 422)
      assert.match(quota.text, /unsupported scope/)
      const pod = await post('/api/v1/namespaces/default/pods?dryRun=All', {
        metadata: { name: 'a' },
        spec: {
          containers: [{ name: 'a', image: 'a' }],
          nodeSelector: { [name]: 'a' },
          topologySpreadConstraints: [
            { maxSkew: 1, topologyKey: name, whenUnsatisfiable: 'DoNotSchedule', labelSelector: {} },
          ],
        },
      })
      assert.doesNotMatch(pod.text, /"warning"|function/)
      const review = await post('/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', {
        spec: {
          resourceAttributes: {
            verb: 'list',
            resource: 'pods',
            labelSelector: { requirements: [{ key: 'a', operator: name }] },
          },
        },
      })
      assert.ok(review.status < 500, review.text)
    }
  })
})
