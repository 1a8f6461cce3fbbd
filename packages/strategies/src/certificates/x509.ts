import { decodeBase64Text } from '@coxswain/kit'
import {
  type DerElement,
  derTags,
  readDer,
  readPem,
  readWithin,
  readX509Name,
  type X509Name,
} from '@coxswain/kit/x509'
import type { Signed } from './signature.ts'

/** The parts of a certificate request that the server reads. */
export interface CertificateRequest extends X509Name {
  /** Made with the key that the certificate is requested for. Not verified. */
  readonly signed: Signed
}

/**
 * Parses the base64 of a PEM request (PKCS #10) without verifying its signature. A text says why it cannot be parsed, in Go's
 * words where they are known.
 */
export function readCertificateRequest(base64: string): CertificateRequest | string {
  const [block] = readPem(decodeBase64Text(base64) ?? '')
  if (block?.type !== 'CERTIFICATE REQUEST') return 'PEM block type must be CERTIFICATE REQUEST'
  const malformed = 'asn1: structure error: the certificate request is malformed'
  const outer = readDer(block.bytes)
  if (!outer?.[0]) return malformed
  if (outer.length > 1) return 'asn1: syntax error: trailing data'
  const [info, algorithm, signature] = readWithin(outer[0], derTags.sequence) ?? []
  if (!info || algorithm?.tag !== derTags.sequence || signature?.tag !== derTags.bitString) return malformed
  const [, subject, publicKey] = readWithin(info, derTags.sequence) ?? []
  const name = readX509Name(subject)
  if (publicKey?.tag !== derTags.sequence || !name) return malformed
  const signed = { message: info.whole, algorithm, signature: signature.content, publicKey }
  return { ...name, signed }
}

/** What is wrong with the base64 of PEM certificates; undefined when nothing is, or there are none. */
export function describeCertificateProblem(base64: string): string | undefined {
  if (base64 === '') return undefined
  let blocks = 0
  for (const block of readPem(decodeBase64Text(base64) ?? '')) {
    if (block.type !== 'CERTIFICATE')
      return `only CERTIFICATE PEM blocks are allowed, found ${JSON.stringify(block.type)}`
    if (block.headers > 0) return 'no PEM block headers are permitted'
    blocks++
    const certificates = readDer(block.bytes)
    if (!certificates || certificates.some(certificate => !isCertificate(certificate)))
      return 'x509: malformed certificate'
    if (certificates.length === 0) return 'found CERTIFICATE PEM block containing 0 certificates'
  }
  return blocks === 0 ? 'must contain at least one CERTIFICATE PEM block' : undefined
}

function isCertificate(element: DerElement): boolean {
  const [body, algorithm, signature] = readWithin(element, derTags.sequence) ?? []
  const fields = readWithin(body, derTags.sequence)
  return (
    fields !== undefined &&
    fields.length >= 6 &&
    algorithm?.tag === derTags.sequence &&
    signature?.tag === derTags.bitString
  )
}
