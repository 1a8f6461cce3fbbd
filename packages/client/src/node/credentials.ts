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

/** How a client proves who it is. */
export interface Credentials {
  /** What goes into the `Authorization` header, if anything. */
  authorization(): Promise<string | undefined>
  /** A client certificate that these credentials bring, if any. */
  certificate?(): Promise<Pick<ClientTls, 'cert' | 'key'> | undefined>
  /** The server did not accept what it got. Resolves with whether there is something new to try. */
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
 * Adds credentials to every request that brings none. A request that is answered 401 is sent once more when the
 * credentials could be renewed: the server has refused it before doing anything.
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
