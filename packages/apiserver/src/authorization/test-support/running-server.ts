import type { JsonObject } from '@coxswain/apimachinery/json'
import { decodeText, type Env, encodeText, TaskGroup, VirtualWorld } from '@coxswain/kit'
import { createMemoryStore } from '@coxswain/storage'
import type { ApiServerOptions } from '../../options.ts'
import { type ApiServer, createApiServer } from '../../server.ts'

export interface TestUser {
  readonly name: string
  readonly groups?: readonly string[]
}

export interface TestAnswer {
  readonly status: number
  readonly body: JsonObject & { readonly message?: string }
}

/** A server, with a virtual clock unless it is given another env. For tests. */
export interface RunningServer extends AsyncDisposable {
  /** Its virtual world, unless it was given another env. */
  readonly world: VirtualWorld
  readonly server: ApiServer
  /** As a user with a client certificate. */
  sendAs(user: TestUser, method: string, url: string, body?: unknown, type?: string): Promise<TestAnswer>
  /** As a member of `system:masters`; throws for anything but a success. */
  write(method: string, url: string, body?: unknown): Promise<JsonObject>
}

const admin: TestUser = { name: 'admin', groups: ['system:masters'] }

export async function startServer(options: Partial<ApiServerOptions> = {}): Promise<RunningServer> {
  const world = options.env instanceof VirtualWorld ? options.env : new VirtualWorld()
  const env: Env = options.env ?? world
  const run = <T>(promise: Promise<T>): Promise<T> => (env === world ? world.run(promise) : promise)
  const store = options.store ?? createMemoryStore({ env })
  const server = createApiServer({ ...options, env, store })
  const group = new TaskGroup()
  group.spawn(signal => server.run(signal))
  await run(server.ready)
  const sendAs: RunningServer['sendAs'] = async (user, method, url, body, type = 'application/json') => {
    const at = url.indexOf('?')
    const answer = await run(
      server.handler({
        method,
        path: at < 0 ? url : url.slice(0, at),
        query: at < 0 ? '' : url.slice(at + 1),
        headers: { 'content-type': type, accept: 'application/json' },
        peer: {
          commonName: user.name,
          organizations: user.groups ?? [],
          notAfter: Number.MAX_SAFE_INTEGER,
        },
        signal: group.signal,
        ...(body !== undefined && { body: encodeText(JSON.stringify(body)) }),
      }),
    )
    const text = answer.body instanceof Uint8Array ? decodeText(answer.body) : ''
    return { status: answer.status, body: text.startsWith('{') ? JSON.parse(text) : { text } }
  }
  return {
    world,
    server,
    sendAs,
    async write(method, url, body) {
      const { status, body: answer } = await sendAs(admin, method, url, body)
      if (status >= 300) throw new Error(`${method} ${url}: ${status} ${JSON.stringify(answer)}`)
      return answer
    },
    async [Symbol.asyncDispose]() {
      group.abort()
      await run(group.join())
      if (!options.store) await run(store.close())
    },
  }
}
