import {
  discardBody,
  getHeader,
  type Transport,
  type WireHeaders,
  type WireRequest,
  type WireResponse,
} from '@coxswain/wire'
import type { ClientTls } from '@coxswain/wire/node/client'
import { canUpgrade, type MessageChannel, type UpgradingTransport } from '../streams/message-channel.ts'

/** The credentials of a client. */
export interface Credentials {
  /** The `Authorization` header, if any. */
  authorization(): Promise<string | undefined>
  /** The client certificate, if any. */
  certificate?(): Promise<Pick<ClientTls, 'cert' | 'key'> | undefined>
  /** The server rejected the credentials. Resolves with whether there are new ones. */
  refresh?(): Promise<boolean>
}

export const noCredentials: Credentials = { authorization: async () => undefined }

export function staticToken(token: string): Credentials {
  return { authorization: async () => `Bearer ${token}` }
}

export function basicAuth(username: string, password: string): Credentials {
  const encoded = Buffer.from(`${username}:${password}`).toString('base64')
  return { authorization: async () => `Basic ${encoded}` }
}

/**
 * Adds credentials to every request that has none. A request that is answered 401 is repeated once when the
 * credentials could be renewed: the server has rejected it before doing anything.
 */
export function withCredentials(transport: Transport, credentials: Credentials): Transport {
  const authorized = async <T extends WireResponse | MessageChannel>(
    request: WireRequest,
    send: (request: WireRequest) => Promise<T>,
  ): Promise<T> => {
    if (getHeader(request.headers, 'authorization') !== undefined) return send(request)
    const sendAs = async (authorization: string | undefined) => {
      const headers: WireHeaders =
        authorization === undefined ? request.headers : { ...request.headers, authorization }
      return send({ ...request, headers })
    }
    const answer = await sendAs(await credentials.authorization())
    if (!('status' in answer) || answer.status !== 401) return answer
    if (!credentials.refresh || !(await credentials.refresh())) return answer
    await discardBody(answer.body)
    return sendAs(await credentials.authorization())
  }
  const sending: Transport = {
    send: request => authorized(request, message => transport.send(message)),
    [Symbol.asyncDispose]: () => transport[Symbol.asyncDispose](),
  }
  if (!canUpgrade(transport)) return sending
  const upgrading: UpgradingTransport = {
    ...sending,
    upgrade: (request, protocols) => authorized(request, message => transport.upgrade(message, protocols)),
  }
  return upgrading
}
