import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  sign,
} from 'node:crypto'
import { isIPv4, isIPv6 } from 'node:net'
import type { Random } from '@coxswain/kit'
import { derTags } from '@coxswain/kit/x509'
import { TransportError } from '../../errors.ts'
import {
  bitString,
  boolean,
  contextTag,
  decode,
  decodeAll,
  encode,
  integer,
  oid,
  sequence,
  time,
} from './der.ts'
import { encodeName, type SubjectName } from './name.ts'
import { decodeOnePem, encodePem } from './pem.ts'
import { readParts } from './read.ts'

/** A certificate and its private key, in PEM. */
export interface KeyPair {
  readonly certificate: string
  readonly key: string
}

/** What a certificate is issued for. */
export interface CertificateTemplate {
  readonly subject: SubjectName
  /** Its usages, such as `server` and `client`. A `ca` may sign others, and nothing else. */
  readonly usages: readonly ('ca' | 'server' | 'client')[]
  /** Whether its key, which is one of RSA, may encrypt other keys. @default false */
  readonly enciphersKeys?: boolean
  /** DNS names and IP addresses of a server. */
  readonly hosts?: readonly string[]
  /** Milliseconds since the epoch. */
  readonly notBefore: number
  readonly notAfter: number
}

const ecdsaWithSha256 = sequence(oid('1.2.840.10045.4.3.2'))

const extension = {
  subjectKeyIdentifier: '2.5.29.14',
  keyUsage: '2.5.29.15',
  subjectAltName: '2.5.29.17',
  basicConstraints: '2.5.29.19',
  authorityKeyIdentifier: '2.5.29.35',
  extendedKeyUsage: '2.5.29.37',
} as const

const extendedUsage = { server: '1.3.6.1.5.5.7.3.1', client: '1.3.6.1.5.5.7.3.2' } as const

/** Generates a P-256 key, in PEM (PKCS #8). */
export function generateKey(): string {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  return privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
}

/** Generates a key and its certificate, signed by `issuer`, or self-signed without one. */
export function createCertificate(template: CertificateTemplate, random: Random, issuer?: KeyPair): KeyPair {
  const key = generateKey()
  const publicKey = createPublicKey(key).export({ type: 'spki', format: 'der' })
  return { certificate: signCertificate(template, publicKey, random, issuer ?? { key }), key }
}

/** The signer: a CA, or the certificate's own key. */
export interface Signer {
  readonly key: string
  /** Absent when the certificate is self-signed. */
  readonly certificate?: string
}

/** The certificate of `publicKey` (SPKI, DER), in PEM. Serial numbers have 127 bits of `random`. */
export function signCertificate(
  template: CertificateTemplate,
  publicKey: Uint8Array,
  random: Random,
  signer: Signer,
): string {
  const issuer = signer.certificate === undefined ? undefined : readIssuer(signer.certificate)
  const signingKey = createPrivateKey(signer.key)
  const algorithm = signatureAlgorithm(signingKey)
  const keyIdentifier = identifyKey(publicKey)
  const subject = encodeName(template.subject)
  const body = sequence(
    encode(contextTag(0), integer(Buffer.from([2]))),
    integer(serialNumber(random)),
    algorithm,
    issuer?.subject ?? subject,
    sequence(time(template.notBefore), time(template.notAfter)),
    subject,
    publicKey,
    encode(
      contextTag(3),
      sequence(...extensionsOf(template, keyIdentifier, issuer?.keyIdentifier ?? keyIdentifier)),
    ),
  )
  return encodePem('CERTIFICATE', sequence(body, algorithm, bitString(sign('sha256', body, signingKey))))
}

/** The issuer's name exactly as in its own certificate, and its key identifier. */
function readIssuer(pem: string): { subject: Uint8Array; keyIdentifier: Buffer } {
  const { subject, publicKey } = readParts(decodeOnePem(pem, 'CERTIFICATE'))
  return { subject: subject.whole, keyIdentifier: identifyKey(publicKey) }
}

function extensionsOf(template: CertificateTemplate, own: Buffer, issuers: Buffer): Buffer[] {
  const { usages, hosts = [], enciphersKeys = false } = template
  const isCa = usages.includes('ca')
  const add = (type: string, critical: boolean, value: Buffer) =>
    sequence(oid(type), ...(critical ? [boolean(true)] : []), encode(derTags.octetString, value))
  const extensions = [
    add(extension.basicConstraints, true, isCa ? sequence(boolean(true)) : sequence()),
    add(extension.keyUsage, true, keyUsageOf({ isCa, enciphersKeys })),
    add(extension.subjectKeyIdentifier, false, encode(derTags.octetString, own)),
    add(extension.authorityKeyIdentifier, false, sequence(encode(contextTag(0, true), issuers))),
  ]
  const extended = usages.flatMap(usage => (usage === 'ca' ? [] : [oid(extendedUsage[usage])]))
  if (extended.length > 0) extensions.push(add(extension.extendedKeyUsage, false, sequence(...extended)))
  if (hosts.length > 0) {
    extensions.push(add(extension.subjectAltName, false, sequence(...hosts.map(encodeHost))))
  }
  return extensions
}

/** keyCertSign and cRLSign, or digitalSignature and keyEncipherment. */
function keyUsageOf({
  isCa,
  enciphersKeys,
}: {
  readonly isCa: boolean
  readonly enciphersKeys: boolean
}): Buffer {
  if (isCa) return bitString(Buffer.from([0x06]), 1)
  return enciphersKeys ? bitString(Buffer.from([0xa0]), 5) : bitString(Buffer.from([0x80]), 7)
}

/** A GeneralName: iPAddress [7] or dNSName [2]. */
function encodeHost(host: string): Buffer {
  if (isIPv4(host)) return encode(contextTag(7, true), Buffer.from(host.split('.').map(Number)))
  if (isIPv6(host)) return encode(contextTag(7, true), encodeIPv6(host))
  return encode(contextTag(2, true), Buffer.from(host, 'latin1'))
}

function encodeIPv6(address: string): Buffer {
  const [head = '', tail] = new URL(`http://[${address}]`).hostname.slice(1, -1).split('::')
  const words = (text: string) => (text === '' ? [] : text.split(':').map(word => Number.parseInt(word, 16)))
  const front = words(head)
  const back = words(tail ?? '')
  const all = [...front, ...new Array<number>(8 - front.length - back.length).fill(0), ...back]
  const bytes = Buffer.alloc(16)
  all.forEach((word, i) => {
    bytes.writeUInt16BE(word, i * 2)
  })
  return bytes
}

function serialNumber(random: Random): Uint8Array {
  const bytes = random.bytes(16)
  bytes[0] = (bytes[0]! & 0x7f) | 0x40
  return bytes
}

/** RFC 5280, method 1: SHA-1 of the key's bits. */
function identifyKey(spki: Uint8Array): Buffer {
  const [, key] = decodeAll(decode(spki).content)
  return createHash('sha1').update(key!.content.subarray(1)).digest()
}

function signatureAlgorithm(key: KeyObject): Buffer {
  if (key.asymmetricKeyType === 'ec') return ecdsaWithSha256
  if (key.asymmetricKeyType === 'rsa') return sequence(oid('1.2.840.113549.1.1.11'), encode(derTags.null))
  throw new TransportError('BadCertificate', `cannot sign with a key of type ${key.asymmetricKeyType}`)
}
