import { isTransportError } from '@coxswain/wire'

/** Messages of Go's HTTP client, by Node's error `code`. */
const systemErrors: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'connection reset by peer',
  EHOSTUNREACH: 'no route to host',
  ENETUNREACH: 'network is unreachable',
  ETIMEDOUT: 'connection timed out',
}

const unknownAuthority = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
])

/** The members of Node's errors that tell what happened. */
interface SystemError {
  readonly code?: string
  readonly message?: string
  readonly cert?: { readonly subjectaltname?: string }
}

/** Why `address` (`host:port`) did not respond, in the words of Go's HTTP client, which users search for. */
export function describeFailure(error: unknown, address: string, serverName: string): string {
  const { code = '', cert } = causeOf(error)
  const [host = ''] = address.split(/:\d+$/)
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return `dial tcp: lookup ${host}: no such host`
  if (unknownAuthority.has(code))
    return 'tls: failed to verify certificate: x509: certificate signed by unknown authority'
  if (code === 'CERT_HAS_EXPIRED' || code === 'CERT_NOT_YET_VALID')
    return 'tls: failed to verify certificate: x509: certificate has expired or is not yet valid'
  if (code === 'ERR_SSL_WRONG_VERSION_NUMBER') return 'http: server gave HTTP response to HTTPS client'
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID')
    return `tls: failed to verify certificate: ${describeNames(cert?.subjectaltname ?? '', serverName)}`
  const known = systemErrors[code]
  if (known !== undefined && isTransportError(error, 'ConnectFailed'))
    return `dial tcp ${address}: connect: ${known}`
  if (isTransportError(error, 'Timeout')) return `dial tcp ${address}: i/o timeout`
  if (isTransportError(error, 'ConnectionLost')) return 'EOF'
  return error instanceof Error ? error.message : String(error)
}

function causeOf(error: unknown): SystemError {
  const cause = error instanceof Error ? error.cause : undefined
  return typeof cause === 'object' && cause !== null ? (cause as SystemError) : {}
}

/** `subjectaltname` has Node's form: `DNS:a, IP Address:127.0.0.1`. */
function describeNames(subjectaltname: string, serverName: string): string {
  const names = subjectaltname
    .split(', ')
    .map(entry => entry.slice(entry.indexOf(':') + 1))
    .filter(name => name !== '')
  return names.length === 0
    ? `x509: certificate is not valid for any names, but wanted to match ${serverName}`
    : `x509: certificate is valid for ${names.join(', ')}, not ${serverName}`
}
