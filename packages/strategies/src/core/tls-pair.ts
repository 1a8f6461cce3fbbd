import { readPem } from '@coxswain/kit/x509'

const isCertificate = (type: string): boolean => type === 'CERTIFICATE'
const isPrivateKey = (type: string): boolean => type === 'PRIVATE KEY' || type.endsWith(' PRIVATE KEY')

function blockTypes(pem: string): string[] {
  return Array.from(readPem(pem), ({ type }) => type)
}

/**
 * What Go's TLS library would say about a certificate and its key, as far as PEM goes; undefined when both are there.
 * Whether the key belongs to the certificate is not checked.
 */
export function describePairProblem(certificate: string, key: string): string | undefined {
  const found = blockTypes(certificate)
  if (!found.some(isCertificate)) {
    if (found.length === 0) return 'tls: failed to find any PEM data in certificate input'
    if (found.length === 1 && isPrivateKey(found[0] ?? ''))
      return 'tls: failed to find certificate PEM data in certificate input, but did find a private key; PEM inputs may have been switched'
    return `tls: failed to find "CERTIFICATE" PEM block in certificate input after skipping PEM blocks of the following types: ${printTypes(found)}`
  }
  const keys = blockTypes(key)
  if (keys.some(isPrivateKey)) return undefined
  if (keys.length === 0) return 'tls: failed to find any PEM data in key input'
  if (keys.length === 1 && isCertificate(keys[0] ?? ''))
    return 'tls: found a certificate rather than a key in the PEM for the private key'
  return `tls: failed to find PEM block with type ending in "PRIVATE KEY" in key input after skipping PEM blocks of the following types: ${printTypes(keys)}`
}

const printTypes = (types: readonly string[]): string => `[${types.join(' ')}]`
