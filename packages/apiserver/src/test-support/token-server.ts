import type { JsonObject } from '@coxswain/apimachinery/json'
import { decodeText, encodeText, TaskGroup, VirtualWorld } from '@coxswain/kit'
import { createMemoryStore } from '@coxswain/storage'
import type { PeerCertificate, WireHeaders } from '@coxswain/wire'
import type { ServiceAccountOptions } from '../authentication/service-account/issuer.ts'
import { generateSigningKey, readSigningKey, readVerificationKeys } from '../node/keys.ts'
import type { ApiServerOptions } from '../options.ts'
import { createApiServer } from '../server.ts'

export interface Answer {
  readonly status: number
  readonly headers: WireHeaders
  // biome-ignore lint/suspicious/noExplicitAny: responses of all kinds
  readonly body: any
}

export interface RequestParts {
  readonly body?: unknown
  readonly headers?: WireHeaders
  /** `null` for a connection without a certificate. @default an administrator's */
  readonly peer?: PeerCertificate | null
  readonly peerError?: string
}

export const administrator: PeerCertificate = {
  commonName: 'admin',
  organizations: ['system:masters'],
  notAfter: Number.MAX_SAFE_INTEGER,
}

export function testServiceAccountKeys(): ServiceAccountOptions {
  const pem = generateSigningKey()
  return { signingKey: readSigningKey(pem), verificationKeys: readVerificationKeys(pem) }
}

/** A server on a virtual clock, with an issuer of service account tokens. */
export async function startTestServer(
  options: Partial<Omit<ApiServerOptions, 'env' | 'store'>> & { readonly world?: VirtualWorld } = {},
) {
  const { world = new VirtualWorld(), ...more } = options
  const store = createMemoryStore({ env: world })
  const server = createApiServer({
    env: world,
    store,
    ...more,
    authentication: { serviceAccounts: testServiceAccountKeys(), ...more.authentication },
  })
  const group = new TaskGroup()
  group.spawn(signal => server.run(signal))
  await world.run(server.ready)

  const send = async (method: string, url: string, parts: RequestParts = {}): Promise<Answer> => {
    const [path = '', query = ''] = url.split('?')
    const { body, headers = {}, peer = administrator, peerError } = parts
    const answer = await world.run(
      server.handler({
        method,
        path,
        query,
        headers: { 'content-type': 'application/json', ...headers },
        signal: group.signal,
        ...(body !== undefined && { body: encodeText(JSON.stringify(body)) }),
        ...(peer && { peer }),
        ...(peerError !== undefined && { peerError }),
      }),
    )
    const text = decodeText(answer.body as Uint8Array)
    return {
      status: answer.status,
      headers: answer.headers,
      body: text.startsWith('{') ? JSON.parse(text) : text,
    }
  }
  return {
    world,
    send,
    /** As `send`, for encodings other than JSON. */
    async sendBytes(method: string, path: string, body: Uint8Array, headers: WireHeaders) {
      const request = { method, path, query: '', headers, body, peer: administrator, signal: group.signal }
      const answer = await world.run(server.handler(request))
      return { status: answer.status, body: answer.body as Uint8Array }
    },
    /** Creates an object; throws when the server rejects it. */
    async create(url: string, body: unknown): Promise<Record<string, JsonObject>> {
      const answer = await send('POST', url, { body })
      if (answer.status !== 201) throw new Error(JSON.stringify(answer.body))
      return answer.body
    },
    /** Sends a request with only a bearer token. */
    withToken: (
      token: string,
      method = 'POST',
      url = selfReviews,
      body: unknown = selfReview,
    ): Promise<Answer> =>
      send(method, url, {
        peer: null,
        headers: { authorization: `Bearer ${token}` },
        ...(method === 'POST' && { body }),
      }),
    async [Symbol.asyncDispose]() {
      group.abort()
      await world.run(group.join())
      await world.run(store.close())
    },
  }
}

export const selfReviews = '/apis/authentication.k8s.io/v1/selfsubjectreviews'
export const selfReview: JsonObject = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' }
