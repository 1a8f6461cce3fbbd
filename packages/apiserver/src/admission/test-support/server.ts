import assert from 'node:assert/strict'
import type { JsonObject } from '@coxswain/apimachinery/json'
import { createRealEnv, createSeededRandom, decodeText, encodeText, TaskGroup } from '@coxswain/kit'
import { createMemoryStore } from '@coxswain/storage'
import { createInProcessTransport, type Handler, readBody, type WireRequest } from '@coxswain/wire'
import { createCertificate, createHttpTransport, serve } from '@coxswain/wire/node'
import type { ApiServerOptions } from '../../options.ts'
import { createApiServer } from '../../server.ts'

const admin = { commonName: 'admin', organizations: ['system:masters'], notAfter: Number.MAX_SAFE_INTEGER }
const day = 86_400_000

export interface Answer {
  readonly status: number
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of all kinds
  readonly body: any
  /** Texts of `Warning` headers. */
  readonly warnings: readonly string[]
}

/** Endpoints may not have loopback addresses; this address is dialled as this machine. */
export const routedAddress = '192.0.2.77'

/** An API server without a listening socket, with real outbound connections. */
export async function startServer(options: Partial<ApiServerOptions> = {}) {
  const env = createRealEnv()
  const store = createMemoryStore({ env })
  const outbound = {
    connect: ({ origin, ...tls }: { readonly origin: string }) =>
      createHttpTransport({ server: origin.replace(routedAddress, '127.0.0.1'), tls }),
  }
  const server = createApiServer({ env, store, outbound, ...options })
  const group = new TaskGroup()
  group.spawn(signal => server.run(signal))
  await server.ready
  const transport = createInProcessTransport(server.handler, env, { peer: admin })

  async function send(
    method: string,
    url: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Answer> {
    const [path = '', query = ''] = url.split('?')
    const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json'
    const answer = await transport.send({
      method,
      path,
      query,
      headers: { 'content-type': type, ...headers },
      signal: group.signal,
      ...(body !== undefined && { body: encodeText(JSON.stringify(body)) }),
    })
    const text = decodeText(await readBody(answer.body))
    const warnings = [answer.headers.warning ?? []].flat() as string[]
    return {
      status: answer.status,
      body: text.startsWith('{') ? JSON.parse(text) : text,
      warnings: warnings.map(line => line.slice('299 - "'.length, -1)),
    }
  }

  /** Sends a request that must succeed. */
  async function must(method: string, url: string, body?: unknown, headers: Record<string, string> = {}) {
    const answer = await send(method, url, body, headers)
    assert.ok(answer.status < 300, `${method} ${url}: ${answer.status} ${JSON.stringify(answer.body)}`)
    return answer.body
  }

  return {
    env,
    send,
    must,
    handler: server.handler,
    signal: group.signal,
    async [Symbol.asyncDispose]() {
      group.abort()
      await group.join()
      await store.close()
    },
  }
}

export type TestServer = Awaited<ReturnType<typeof startServer>>

const random = createSeededRandom(7)
const validity = { notBefore: Date.now() - day, notAfter: Date.now() + day }
const ca = createCertificate({ subject: { commonName: 'webhook-ca' }, usages: ['ca'], ...validity }, random)
const certificate = createCertificate(
  {
    subject: { commonName: 'webhook' },
    usages: ['server'],
    hosts: ['localhost', '127.0.0.1', 'hooks.default.svc'],
    ...validity,
  },
  random,
  ca,
)

/** PEM in base64, as in `caBundle`. */
export const caBundle: string = Buffer.from(ca.certificate).toString('base64')
/** The server certificate of the webhook server. */
export const hookTls: { readonly cert: string; readonly key: string } = {
  cert: certificate.certificate,
  key: certificate.key,
}

// biome-ignore lint/suspicious/noExplicitAny: tests look into requests of all kinds
export type AdmissionRequest = any
/** A webhook's response; the uid is filled in. `raw` replaces the whole response. */
export type AdmissionResponse = JsonObject

export type Hook = (
  request: AdmissionRequest,
  wire: WireRequest,
) => AdmissionResponse | Promise<AdmissionResponse>

export const allow: AdmissionResponse = { allowed: true }

export function patch(...operations: readonly object[]): AdmissionResponse {
  return {
    allowed: true,
    patchType: 'JSONPatch',
    patch: Buffer.from(JSON.stringify(operations)).toString('base64'),
  }
}

/** A real HTTPS server with a webhook at each path, which records the reviews that it receives. */
export async function serveHooks(hooks: Readonly<Record<string, Hook>>) {
  const requests: {
    readonly path: string
    readonly request: AdmissionRequest
    readonly wire: WireRequest
  }[] = []
  const handler: Handler = async wire => {
    const review = JSON.parse(decodeText(wire.body!))
    requests.push({ path: wire.path, request: review.request, wire })
    const hook = hooks[wire.path]
    if (!hook) return { status: 404, headers: {}, body: encodeText('404 page not found\n') }
    const made = await hook(review.request, wire)
    const response = { uid: review.request.uid, ...made }
    const answer = 'raw' in made ? made.raw : { kind: review.kind, apiVersion: review.apiVersion, response }
    return {
      status: 200,
      headers: { 'content-type': 'application/json' },
      body: encodeText(JSON.stringify(answer)),
    }
  }
  const server = await serve({
    handler,
    tls: { ...hookTls, clientCa: ca.certificate },
  })
  return {
    requests,
    port: server.port,
    /** The reviews received at a path, oldest first. */
    asked: (path: string) => requests.filter(asked => asked.path === path).map(({ request }) => request),
    clientConfig: (path: string) => ({ url: `${server.url}${path}`, caBundle }),
    async [Symbol.asyncDispose]() {
      await server.close({ grace: 0 })
    },
  }
}

export type HookServer = Awaited<ReturnType<typeof serveHooks>>

export interface WebhookOptions extends JsonObject {
  readonly rules?: unknown
}

const everything = [{ operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], resources: ['*/*'] }]

/** Registers a webhook for a path of the webhook server; by default for everything in namespace `default`. */
export async function register(
  server: TestServer,
  kind: 'Mutating' | 'Validating',
  name: string,
  webhooks: readonly JsonObject[],
): Promise<void> {
  await server.must(
    'POST',
    `/apis/admissionregistration.k8s.io/v1/${kind.toLowerCase()}webhookconfigurations`,
    {
      metadata: { name },
      webhooks: webhooks.map(webhook => ({
        name: `${name}.example.com`,
        admissionReviewVersions: ['v1', 'v1beta1'],
        sideEffects: 'None',
        timeoutSeconds: 5,
        namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'default' } },
        rules: everything,
        ...webhook,
      })),
    },
  )
}
