import { X509Certificate } from 'node:crypto'
import { type DerElement, readDerTime } from '@coxswain/kit/x509'
import { TransportError } from '../../errors.ts'
import type { PeerCertificate } from '../../message.ts'
import { decode, decodeAll } from './der.ts'
import { noNames, readAltNames } from './general-names.ts'
import { decodeName } from './name.ts'
import { decodeOnePem } from './pem.ts'

/** The parts of a certificate that are used, still encoded. */
export interface CertificateParts {
  readonly serialNumber: Uint8Array
  readonly issuer: DerElement
  readonly subject: DerElement
  readonly notBefore: number
  readonly notAfter: number
  /** SubjectPublicKeyInfo. */
  readonly publicKey: Uint8Array
  readonly extensions: readonly DerElement[]
}

/** Parses a certificate. Throws `BadCertificate`. */
export function readParts(der: Uint8Array): CertificateParts {
  try {
    const [body] = decodeAll(decode(der).content)
    const fields = decodeAll(body!.content)
    if (fields[0]?.tag === 0xa0) fields.shift() // the version
    const [serial, , issuer, validity, subject, publicKey, ...rest] = fields
    const [notBefore, notAfter] = decodeAll(validity!.content)
    const wrapped = rest.find(element => element.tag === 0xa3)
    return {
      serialNumber: serial!.content,
      issuer: issuer!,
      subject: subject!,
      notBefore: readDerTime(notBefore!),
      notAfter: readDerTime(notAfter!),
      publicKey: publicKey!.whole,
      extensions: wrapped ? decodeAll(decode(wrapped.content).content) : [],
    }
  } catch (cause) {
    throw new TransportError('BadCertificate', 'the certificate cannot be parsed', { cause })
  }
}

/** The subject of a certificate (DER). It is not verified. */
export function readPeerCertificate(der: Uint8Array): PeerCertificate {
  const { subject, notAfter } = readParts(der)
  try {
    return { ...decodeName(subject), notAfter }
  } catch (cause) {
    throw new TransportError('BadCertificate', "the certificate's subject cannot be parsed", { cause })
  }
}

/** The subject, validity and names of a certificate. */
export interface CertificateInfo extends PeerCertificate {
  /** Milliseconds since the epoch. */
  readonly notBefore: number
  readonly isCa: boolean
  /** DNS names and IP addresses. */
  readonly hosts: readonly string[]
}

/** The content of a certificate (PEM), for deciding whether it is still usable. */
export function readCertificate(pem: string): CertificateInfo {
  const der = decodeOnePem(pem, 'CERTIFICATE')
  const { notBefore, extensions } = readParts(der)
  const names = noNames()
  try {
    readAltNames(extensions, names)
    const { ca } = new X509Certificate(der)
    const hosts = [...names.dnsNames, ...names.ipAddresses]
    return { ...readPeerCertificate(der), notBefore, isCa: ca, hosts }
  } catch (cause) {
    throw new TransportError('BadCertificate', 'the certificate cannot be parsed', { cause })
  }
}
