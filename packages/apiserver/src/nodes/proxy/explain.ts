import { isStatusError } from '@coxswain/apimachinery/status'
import { isTransportError, TransportError } from '@coxswain/wire'
import { describeFailure } from '../../outbound/go-errors.ts'
import type { Backend } from './backend.ts'

/** Why the backend did not respond, in the words of Go's HTTP client. */
export function explain(error: unknown, { host }: Backend): string {
  if (isStatusError(error)) return error.message
  const { code } = ((error as Error).cause ?? {}) as { readonly code?: string }
  if (code === 'ERR_SSL_WRONG_VERSION_NUMBER' || code === 'EPROTO')
    return 'tls: first record does not look like a TLS handshake'
  if (isTransportError(error)) return describeFailure(error, host, host.replace(/:\d+$/, ''))
  // Runtimes have errors of their own; the system's error code is the same everywhere.
  const [, refusal] = /connect: ([a-z ]+)$/.exec(messageOf(error)) ?? []
  if (refusal !== undefined) return `dial tcp ${host}: connect: ${refusal}`
  const failure = new TransportError('ConnectFailed', messageOf(error), { cause: error, sent: false })
  return describeFailure(failure, host, host.replace(/:\d+$/, ''))
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
