import { decodeText, encodeText, TaskGroup, VirtualWorld } from '@coxswain/kit'
import { createMemoryStore } from '@coxswain/storage'
import { createInProcessTransport, type WireBody, type WireHeaders } from '@coxswain/wire'
import type { Outbound } from '../../outbound/outbound.ts'
import { createApiServer } from '../../server.ts'

const admin = { commonName: 'admin', organizations: ['system:masters'], notAfter: Number.MAX_SAFE_INTEGER }

export const crds = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'

// biome-ignore lint/suspicious/noExplicitAny: responses of all kinds, whose members tests name
export type Answered = any

export interface CrdServer extends AsyncDisposable {
  readonly world: VirtualWorld
  /** The response, once everything it triggered has happened. A string body is sent unchanged. */
  send(
    method: string,
    url: string,
    body?: unknown,
    type?: string,
    headers?: WireHeaders,
  ): Promise<{ readonly status: number; readonly body: Answered; readonly warnings: readonly string[] }>
  /** The events of a watch, as they arrive. */
  watch(url: string): Promise<AsyncIterator<Answered>>
}

interface Sent {
  readonly body?: unknown
  readonly type?: string
  readonly headers?: WireHeaders
}

/** A server on a virtual clock, and an administrator's requests to it. */
export async function startCrdServer(options: { readonly outbound?: Outbound } = {}): Promise<CrdServer> {
  const world = new VirtualWorld()
  const store = createMemoryStore({ env: world })
  const server = createApiServer({ env: world, store, ...options })
  const group = new TaskGroup()
  group.spawn(signal => server.run(signal))
  await world.run(server.ready)
  const transport = createInProcessTransport(server.handler, world, { peer: admin })
  const request = (
    method: string,
    url: string,
    { body, type = 'application/json', headers = {} }: Sent = {},
  ) => {
    const [path = '', query = ''] = url.split('?')
    const text = typeof body === 'string' ? body : JSON.stringify(body)
    return world.run(
      transport.send({
        method,
        path,
        query,
        headers: { 'content-type': type, ...headers },
        signal: group.signal,
        ...(body !== undefined && { body: encodeText(text) }),
      }),
    )
  }
  return {
    world,
    async send(method, url, body, type, headers) {
      const sent = { body, ...(type && { type }), ...(headers && { headers }) }
      const answer = await request(method, url, sent)
      await world.settle()
      const text = decodeText(answer.body as Uint8Array)
      const { warning = [] } = answer.headers
      return {
        status: answer.status,
        body: text.startsWith('{') ? JSON.parse(text) : text,
        warnings: typeof warning === 'string' ? [warning] : warning,
      }
    },
    async watch(url) {
      const { body } = (await request('GET', url)) as { body: WireBody }
      return readEvents(world, body as AsyncIterable<Uint8Array>)
    },
    async [Symbol.asyncDispose]() {
      group.abort()
      await world.run(group.join())
      await world.run(store.close())
    },
  }
}

/** Each chunk of a watch's body contains whole lines. */
function readEvents(world: VirtualWorld, body: AsyncIterable<Uint8Array>): AsyncIterator<Answered> {
  const chunks = body[Symbol.asyncIterator]()
  const ready: Answered[] = []
  return {
    async next() {
      while (ready.length === 0) {
        const chunk = await world.run(chunks.next())
        if (chunk.done) return { done: true, value: undefined }
        const lines = decodeText(chunk.value).split('\n').filter(Boolean)
        ready.push(...lines.map(line => JSON.parse(line)))
      }
      return { done: false, value: ready.shift() }
    },
    async return() {
      await chunks.return?.()
      return { done: true, value: undefined }
    },
  }
}

/** A CRD of `things.example.com`; `spec` and `version` replace members. */
export function thingCrd(
  openAPIV3Schema: unknown,
  { version = {}, spec = {} }: { readonly version?: object; readonly spec?: object } = {},
): Answered {
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'things.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Cluster',
      names: { plural: 'things', kind: 'Thing' },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema }, ...version }],
      ...spec,
    },
  }
}
