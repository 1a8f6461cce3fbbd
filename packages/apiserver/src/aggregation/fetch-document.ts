import { createAbortError, type Env, untilAborted } from '@coxswain/kit'
import { discardBody, getHeader, readBody } from '@coxswain/wire'
import type { UserInfo } from '../request/context.ts'
import type { ExtensionServer } from './api-services.ts'
import type { ExtensionServers, Sent } from './extension-servers.ts'
import { setIdentity } from './identity-headers.ts'

/** The API server's own request for a document of an extension API server. */
export interface DocumentRequest {
  readonly address: string
  readonly path: string
  readonly user: UserInfo
  /** Milliseconds until the response must be complete. */
  readonly timeout: number
  /** The longest body that is read; a longer one is an error. 0: the body is discarded. */
  readonly limit: number
  readonly accept?: string
  /** The ETag of the known document. */
  readonly etag?: string | undefined
  readonly signal: AbortSignal
}

export interface FetchedDocument {
  readonly status: number
  readonly contentType: string
  readonly etag: string
  readonly body: Uint8Array
}

/** The error of a request that took too long. */
export const timedOut = 'context deadline exceeded'

/** Rejects with an Error in the words of Go's HTTP client, or with the signal's reason. Redirects are not followed. */
export async function fetchDocument(
  { env, servers }: { readonly env: Env; readonly servers: ExtensionServers },
  server: ExtensionServer,
  request: DocumentRequest,
): Promise<FetchedDocument> {
  const { address, path, user, timeout, limit, accept, etag, signal } = request
  const abort = new AbortController()
  let isExpired = false
  const timer = env.clock.after(timeout, () => {
    isExpired = true
    abort.abort(createAbortError(timedOut))
  })
  const onAbort = () => abort.abort(signal.reason)
  if (signal.aborted) onAbort()
  else signal.addEventListener('abort', onAbort, { once: true })
  const headers: Record<string, string | readonly string[]> = {
    'user-agent': 'Go-http-client/2.0',
    ...(accept !== undefined && { accept }),
    ...(etag !== undefined && etag !== '' && { 'if-none-match': etag }),
  }
  setIdentity(headers, user)
  let sent: Sent | undefined
  try {
    const message = { method: 'GET', path, query: '', headers, signal: abort.signal }
    sent = await untilAborted(servers.send(server, address, message), abort.signal)
    const answer = sent.response
    const { status } = answer
    const body =
      limit === 0 ? new Uint8Array(0) : await untilAborted(readBody(answer.body, limit), abort.signal)
    const textOf = (name: string) => String(getHeader(answer.headers, name) ?? '')
    return { status, contentType: textOf('content-type'), etag: textOf('etag'), body }
  } catch (error) {
    if (signal.aborted) throw signal.reason
    throw new Error(isExpired ? timedOut : servers.explain(server, address, error), { cause: error })
  } finally {
    timer.cancel()
    signal.removeEventListener('abort', onAbort)
    // What is not read is not sent either.
    if (sent) discardBody(sent.response.body).catch(() => {})
    sent?.release()
  }
}
