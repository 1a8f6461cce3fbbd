import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Namespace, ServiceAccount } from '@coxswain/api/core/v1'
import { ClusterRole, ClusterRoleBinding } from '@coxswain/api/rbac/v1'
import { defineKind, s } from '@coxswain/apimachinery/kinds'
import type { ApiObject } from '@coxswain/apimachinery/meta'
import {
  isAlreadyExists,
  isConflict,
  isForbidden,
  isMethodNotSupported,
  newResourceExpired,
} from '@coxswain/apimachinery/status'
import type { ApiServer } from '@coxswain/apiserver'
import { createClient } from '@coxswain/client'
import { TaskGroup, VirtualWorld } from '@coxswain/kit'
import { createMemoryStore } from '@coxswain/storage'
import { createInProcessTransport, type PeerCertificate } from '@coxswain/wire'
import { createOwnApiServer, defineApiServer, type OwnServerOptions } from './define-api-server.ts'
import { defineResource } from './define-resource.ts'
import { delegateTo } from './delegation.ts'
import { toFetchHandler } from './fetch-handler.ts'
import { createMemoryStorage } from './storage/memory-storage.ts'
import type { ObjectStorage } from './storage/object-storage.ts'

const group = 'shop.example.com'
const Note = defineKind({
  group,
  kind: 'Note',
  versions: { v1: { storage: true, spec: s.object({ text: s.string() }) } },
})
const Total = defineKind({
  group,
  kind: 'Total',
  scope: 'Cluster',
  versions: { v1: { storage: true, fields: { count: s.int32() } } },
})
type Note = ApiObject & { spec: { text: string } }

const peerOf = (commonName: string, ...organizations: string[]): PeerCertificate => ({
  commonName,
  organizations,
  notAfter: Number.MAX_SAFE_INTEGER,
})
const administrator = peerOf('admin', 'system:masters')
const key = { namespace: 'default', name: 'a' }

interface Running extends AsyncDisposable {
  readonly server: ApiServer
  client(peer?: PeerCertificate): ReturnType<typeof createClient>
}

async function start(
  world: VirtualWorld,
  definition: ReturnType<typeof defineApiServer>,
  options: OwnServerOptions = {},
): Promise<Running> {
  const store = createMemoryStore({ env: world })
  const server = createOwnApiServer(definition, { env: world, store, ...options })
  const tasks = new TaskGroup()
  tasks.spawn(signal => server.run(signal))
  await world.run(server.ready)
  return {
    server,
    client: (peer = administrator) =>
      createClient({ env: world, transport: createInProcessTransport(server.handler, world, { peer }) }),
    async [Symbol.asyncDispose]() {
      tasks.abort()
      await world.run(tasks.join())
      await world.run(store.close())
    },
  }
}

const note = (name: string, text = 'x') => ({ metadata: { namespace: 'default', name }, spec: { text } })

describe('a resource in a storage of the author', () => {
  const launch = async (storage: ObjectStorage<Note> = createMemoryStorage<Note>()) => {
    const world = new VirtualWorld({ seed: 1 })
    const definition = defineApiServer({
      groups: { [group]: [defineResource(Note.v1, { storage: storage as never })] },
    })
    return { world, storage, running: await start(world, definition) }
  }

  it('is created, read, changed, listed and deleted, with the versions of the storage', async () => {
    const { world, storage, running } = await launch()
    await using _ = running
    const client = running.client()
    const created = await world.run(client.create(Note.v1, note('a')))
    assert.equal(created.metadata.resourceVersion, '2')
    assert.equal((await storage.get(key))?.metadata.uid, created.metadata.uid)
    await world.run(assert.rejects(client.create(Note.v1, note('a')), isAlreadyExists))
    const changed = await world.run(client.update(Note.v1, { ...created, spec: { text: 'y' } }))
    assert.equal(changed.metadata.resourceVersion, '3')
    await world.run(assert.rejects(client.update(Note.v1, { ...created, spec: { text: 'z' } }), isConflict))
    await world.run(
      client.apply(Note.v1, { metadata: { ...key, labels: { a: 'b' } } }, { fieldManager: 'me' }),
    )
    const { items, metadata } = await world.run(client.list(Note.v1, { namespace: 'default' }))
    assert.deepEqual(
      items.map(({ spec, metadata: { labels } }) => [spec.text, labels]),
      [['y', { a: 'b' }]],
    )
    assert.equal(metadata.resourceVersion, '4')
    await world.run(client.delete(Note.v1, key))
    assert.equal(await storage.get(key), undefined)
    assert.equal(await world.run(client.get(Note.v1, key)), undefined)
  })

  it('shows what others write to the database, in reads and watches', async () => {
    const { world, storage, running } = await launch()
    await using _ = running
    const client = running.client()
    const { metadata } = await world.run(client.list(Note.v1))
    const seen: string[] = []
    const stop = new AbortController()
    const watching = (async () => {
      for await (const event of client.watch(Note.v1, {
        resourceVersion: metadata.resourceVersion!,
        signal: stop.signal,
      }))
        if (event.type !== 'BOOKMARK') seen.push(`${event.type} ${(event.object as ApiObject).metadata.name}`)
    })().catch(() => {})
    const made = { apiVersion: `${group}/v1`, kind: 'Note', ...note('b') } as unknown as Note
    const version = await world.run(storage.put(made, undefined))
    await world.settle()
    assert.equal((await world.run(client.get(Note.v1, { namespace: 'default', name: 'b' })))?.spec.text, 'x')
    await world.run(storage.delete({ namespace: 'default', name: 'b' }, version!))
    await world.settle()
    stop.abort()
    await world.run(watching)
    assert.deepEqual(seen, ['ADDED b', 'DELETED b'])
  })

  it('survives a watch that fails, and one that has lost its place', async () => {
    const memory = createMemoryStorage<Note>()
    const failures = [new Error('the connection was lost'), newResourceExpired('too old')]
    const storage: ObjectStorage<Note> = {
      ...memory,
      async *watch(options) {
        const failure = failures.shift()
        if (failure) throw failure
        yield* memory.watch(options)
      },
    }
    const made = { apiVersion: `${group}/v1`, kind: 'Note', ...note('early') } as unknown as Note
    const { world, running } = await launch(storage)
    await using _ = running
    await memory.put(made, undefined)
    await world.advance(60_000)
    assert.deepEqual(failures, [])
    const { items } = await world.run(running.client().list(Note.v1))
    assert.deepEqual(
      items.map(({ metadata }) => metadata.name),
      ['early'],
    )
    await world.run(running.client().create(Note.v1, note('late')))
  })

  it('is not served when the storage gives versions that are none', async () => {
    const storage = {
      ...createMemoryStorage<Note>(),
      list: async () => ({ items: [], resourceVersion: 'abc' }),
    }
    await assert.rejects(launch(storage), /the storage gave the resourceVersion "abc"/)
  })
})

describe('a virtual resource', () => {
  const definition = defineApiServer({
    groups: {
      [group]: [
        defineResource(Total.v1, {
          virtual: ({ user }) => [
            { metadata: { name: user.name }, count: 3 },
            { metadata: { name: 'all', labels: { big: 'yes' } }, count: 7 },
          ],
        }),
      ],
    },
  })

  it('is computed for each request, selected from, and read-only', async () => {
    const world = new VirtualWorld()
    await using running = await start(world, definition)
    const client = running.client()
    assert.equal((await world.run(client.get(Total.v1, { name: 'admin' })))?.count, 3)
    assert.equal(await world.run(client.get(Total.v1, { name: 'jane' })), undefined)
    assert.equal((await world.run(client.list(Total.v1))).items.length, 2)
    const { items } = await world.run(client.list(Total.v1, { labelSelector: 'big=yes' }))
    assert.deepEqual(
      items.map(({ count }) => count),
      [7],
    )
    await world.run(
      assert.rejects(client.create(Total.v1, { metadata: { name: 'a' }, count: 1 }), isMethodNotSupported),
    )
  })
})

describe('a server behind a cluster', () => {
  it('lets the cluster decide who a request is from and what they may do', async () => {
    const world = new VirtualWorld({ seed: 2 })
    await using host = await start(world, defineApiServer({ groups: {} }))
    const admin = host.client()
    const definition = defineApiServer({ groups: { [group]: [defineResource(Note.v1)] } })
    const delegation = delegateTo({ client: admin, clock: world.clock })
    await using running = await start(world, definition, { delegation })
    const jane = running.client(peerOf('jane'))
    await world.run(assert.rejects(jane.list(Note.v1, { namespace: 'default' }), isForbidden))
    const rules = [{ apiGroups: [group], resources: ['notes'], verbs: ['create', 'list'] }]
    await world.run(admin.create(ClusterRole, { metadata: { name: 'notes' }, rules }))
    const subjects = [{ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: 'jane' }]
    const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'notes' }
    await world.run(admin.create(ClusterRoleBinding, { metadata: { name: 'notes' }, subjects, roleRef }))
    // The refusal is remembered for ten seconds.
    await world.run(assert.rejects(jane.list(Note.v1, { namespace: 'default' }), isForbidden))
    await world.advance(11_000)
    await world.run(jane.create(Note.v1, note('a')))
    assert.equal((await world.run(jane.list(Note.v1, { namespace: 'default' }))).items.length, 1)
    await world.run(assert.rejects(jane.delete(Note.v1, key), isForbidden))
    // It serves no kinds of the cluster.
    await assert.rejects(world.run(running.client().list(Namespace)), /could not find the requested resource/)
    await assert.rejects(
      world.run(running.client().list(ServiceAccount)),
      /could not find the requested resource/,
    )
  })
})

describe('a definition', () => {
  it('is rejected when it cannot be served', () => {
    const resource = defineResource(Note.v1)
    assert.throws(
      () => defineApiServer({ groups: { other: [resource] } }),
      /Note is of the group shop\.example\.com, not other/,
    )
    assert.throws(
      () => defineApiServer({ groups: { [group]: [resource, resource] } }),
      /notes\.shop\.example\.com is there twice/,
    )
    assert.throws(
      () => defineResource(Note.v1, { virtual: () => [], storage: createMemoryStorage() as never }),
      /cannot be virtual and have a storage/,
    )
  })
})

describe('a server in a web application', () => {
  it('answers the requests of the web, below a path, for the users of the application', async () => {
    const world = new VirtualWorld({ seed: 3 })
    await using running = await start(
      world,
      defineApiServer({ groups: { [group]: [defineResource(Note.v1)] } }),
    )
    const fetchApi = toFetchHandler(running.server, {
      basePath: '/k8s',
      maxBody: 1_000,
      userOf: request =>
        request.headers.get('cookie') ? { name: 'admin', groups: ['system:masters'] } : undefined,
    })
    const ask = (path: string, init: RequestInit = {}) =>
      world.run(
        fetchApi(
          new Request(`http://localhost/k8s${path}`, {
            ...init,
            headers: { cookie: 'session', 'content-type': 'application/json', ...init.headers },
          }),
        ),
      )
    const notes = `/apis/${group}/v1/namespaces/default/notes`
    const body = JSON.stringify({ apiVersion: `${group}/v1`, kind: 'Note', ...note('a') })
    assert.equal((await ask(notes, { method: 'POST', body })).status, 201)
    const list = await ask(notes)
    assert.equal(((await list.json()) as { items: unknown[] }).items.length, 1)
    assert.equal((await ask(notes, { method: 'POST', body: 'x'.repeat(2_000) })).status, 413)
    const anonymous = await world.run(fetchApi(new Request(`http://localhost/k8s${notes}`)))
    assert.equal(anonymous.status, 403)
    const forged = new Request(`http://localhost/k8s${notes}`, {
      headers: { 'x-remote-user': 'admin', 'x-remote-group': 'system:masters' },
    })
    assert.equal((await world.run(fetchApi(forged))).status, 403)
    const watch = await ask(`${notes}?watch=true`)
    const reader = watch.body!.getReader()
    const { value } = await world.run(reader.read())
    assert.match(new TextDecoder().decode(value), /"ADDED"/)
    await reader.cancel()
  })
})
