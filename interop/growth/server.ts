import { type AdmissionPlugin, createApiServer, defaultAdmissionPlugins } from '@coxswain/apiserver'
import { verifySignature } from '@coxswain/apiserver/node'
import { createLogger, createRealEnv, TaskGroup } from '@coxswain/kit'
import { createMemoryStore } from '@coxswain/storage'
import { isStream } from '@coxswain/wire'

export interface Request {
  readonly method: string
  readonly path: string
  readonly query?: string
  readonly type?: string
  readonly body?: Uint8Array
}

export interface Answer {
  readonly status: number
  readonly body: Uint8Array
}

export interface TestServer extends AsyncDisposable {
  send(request: Request): Promise<Answer>
  /** What was logged as an error since the last call: a bug. */
  takeBugs(): readonly string[]
}

const peer = { commonName: 'admin', organizations: ['system:masters'], notAfter: Number.MAX_SAFE_INTEGER }

/** A server in this process, with what a Pod needs to be taken. */
export async function startServer(more: readonly AdmissionPlugin[] = []): Promise<TestServer> {
  let bugs: string[] = []
  const log = createLogger(({ level, fields }) => {
    if (level === 'error') bugs.push(String((fields.error as Error | undefined)?.stack ?? fields.error))
  })
  const env = createRealEnv(log)
  const stack = new AsyncDisposableStack()
  const store = stack.use(createMemoryStore({ env }))
  const server = createApiServer({
    env,
    store,
    admission: { plugins: [...defaultAdmissionPlugins, ...more] },
    platform: { verifySignature },
  })
  const group = stack.use(new TaskGroup())
  group.spawn(signal => server.run(signal))
  await server.ready
  const send = async ({ method, path, query = '', type, body }: Request): Promise<Answer> => {
    const headers = { accept: 'application/json', 'content-type': type ?? 'application/json' }
    const wire = { method, path, query, headers, peer, signal: group.signal, ...(body && { body }) }
    const answer = await server.handler(wire)
    if (!answer.body || !isStream(answer.body))
      return { status: answer.status, body: (answer.body as Uint8Array | undefined) ?? new Uint8Array() }
    const chunks: Uint8Array[] = []
    for await (const chunk of answer.body) chunks.push(chunk)
    return { status: answer.status, body: Buffer.concat(chunks) }
  }
  const account = { metadata: { name: 'default' } }
  const path = '/api/v1/namespaces/default/serviceaccounts'
  await send({ method: 'POST', path, body: Buffer.from(JSON.stringify(account)) })
  return {
    send,
    takeBugs() {
      const taken = bugs
      bugs = []
      return taken
    },
    [Symbol.asyncDispose]: async () => {
      group.abort()
      await stack.disposeAsync()
    },
  }
}
