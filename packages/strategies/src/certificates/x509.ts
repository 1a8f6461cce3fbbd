import { decodeBase64Text } from '@coxswain/kit'
import { type DerElement, readDer, readObjectIdentifier, readText, readWithin, tags } from './der.ts'
import { readPem } from './pem.ts'
import { describeSignatureProblem } from './signature.ts'

/** What the server looks at in a certificate request. */
export interface RequestSubject {
  readonly commonName: string
  readonly organizations: readonly string[]
}

const commonName = '2.5.4.3'
const organization = '2.5.4.10'

/**
 * Reads the base64 of a PEM request (PKCS #10) and checks that its author has the key, where the algorithm is known here.
 * The text says what is wrong with it, in Go's words where they are known.
 */
export function readCertificateRequest(base64: string): RequestSubject | string {
  const [block] = readPem(textOf(base64))
  if (block?.type !== 'CERTIFICATE REQUEST') return 'PEM block type must be CERTIFICATE REQUEST'
  const malformed = 'asn1: structure error: the certificate request is malformed'
  const outer = readDer(block.bytes)
  if (!outer?.[0]) return malformed
  if (outer.length > 1) return 'asn1: syntax error: trailing data'
  const [info, algorithm, signature] = readWithin(outer[0], tags.sequence) ?? []
  if (!info || algorithm?.tag !== tags.sequence || signature?.tag !== tags.bitString) return malformed
  const [, subject, publicKey] = readWithin(info, tags.sequence) ?? []
  const name = readName(subject)
  if (publicKey?.tag !== tags.sequence || !name) return malformed
  const signed = { message: info.whole, algorithm, signature: signature.content, publicKey }
  return describeSignatureProblem(signed) ?? name
}

/** As Go reads a name: the last common name counts, organizations in their order. */
function readName(name: DerElement | undefined): RequestSubject | undefined {
  const sets = readWithin(name, tags.sequence)
  if (!sets) return undefined
  let common = ''
  const organizations: string[] = []
  for (const set of sets) {
    for (const attribute of readWithin(set, tags.set) ?? []) {
      const [type, value] = readWithin(attribute, tags.sequence) ?? []
      if (type?.tag !== tags.objectIdentifier || !value) return undefined
      const oid = readObjectIdentifier(type.content)
      if (oid === commonName) common = readText(value)
      if (oid === organization) organizations.push(readText(value))
    }
  }
  return { commonName: common, organizations }
}

/** What is wrong with the base64 of PEM certificates; undefined when nothing is, or there are none. */
export function describeCertificateProblem(base64: string): string | undefined {
  if (base64 === '') return undefined
  let blocks = 0
  for (const block of readPem(textOf(base64))) {
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
  const [body, algorithm, signature] = readWithin(element, tags.sequence) ?? []
  const fields = readWithin(body, tags.sequence)
  return (
    fields !== undefined &&
    fields.length >= 6 &&
    algorithm?.tag === tags.sequence &&
    signature?.tag === tags.bitString
  )
}

function textOf(base64: string): string {
  return decodeBase64Text(base64) ?? ''
}
