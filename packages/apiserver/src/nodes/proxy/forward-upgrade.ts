import { isStatusError, newUnknownError } from '@coxswain/apimachinery/status'
import {
  type ByteStream,
  type Conversation,
  discardBody,
  type Http1Response,
  sendHttp1,
  type WireRequest,
  type WireResponse,
} from '@coxswain/wire'
import type { Backend } from './backend.ts'
import { explain } from './explain.ts'
import { returnedHeaders } from './proxy-headers.ts'

/** An upgrade request. */
export interface UpgradeRequest {
  readonly target: string
  readonly headers: WireRequest['headers']
}

/**
 * Forwards an upgrade. The client's bytes are forwarded only once the backend has switched protocols: any other response
 * ends both connections, so that the client cannot continue to speak HTTP with the API server's privileges. Redirects are
 * neither followed nor passed on.
 */
export async function forwardUpgrade(
  request: WireRequest,
  backend: Backend,
  { target, headers }: UpgradeRequest,
): Promise<WireResponse> {
  let stream: ByteStream
  try {
    stream = await backend.dial()
  } catch (error) {
    throw isStatusError(error) ? error : newUnknownError(`error dialing backend: ${explain(error, backend)}`)
  }
  let answer: Http1Response
  try {
    answer = await sendHttp1(stream, {
      method: request.method,
      target,
      headers,
      upgrade: true,
      signal: request.signal,
    })
  } catch (error) {
    throw newUnknownError(explain(error, backend))
  }
  const { status, upgraded, body } = answer
  if (upgraded) {
    const conversation: Conversation = { protocols: [], raw: true, talk: channel => join(channel, upgraded) }
    return { status, headers: switchingHeaders(answer.headers), conversation }
  }
  if (status < 400) {
    await discardBody(body)
    throw newUnknownError(`invalid upgrade response: status code ${status}`)
  }
  return { status, headers: returnedHeaders(answer.headers), ...(body && { body }) }
}

/** The response to an upgrade has its own connection headers. */
function switchingHeaders(answer: WireResponse['headers']): WireResponse['headers'] {
  const { 'content-length': _length, 'transfer-encoding': _coding, ...headers } = answer
  return headers
}

/** Copies bytes both ways until either side ends. */
async function join(channel: Parameters<Conversation['talk']>[0], backend: ByteStream): Promise<void> {
  const upwards = async () => {
    for await (const chunk of channel.messages) await backend.write(chunk)
  }
  const downwards = async () => {
    for await (const chunk of backend.data) await channel.send(chunk)
  }
  try {
    await Promise.race([upwards(), downwards()])
  } catch {
    // one side failed: the other sees it end
  } finally {
    backend.destroy()
  }
}
