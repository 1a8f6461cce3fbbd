import { createPublicKey, verify } from 'node:crypto'
import { readObjectIdentifier } from '@coxswain/kit/x509'
import { TransportError } from '../../errors.ts'
import { decode, decodeAll } from './der.ts'
import { type GeneralNames, noNames, readAltNames } from './general-names.ts'
import { decodeName, type SubjectName } from './name.ts'
import { decodeOnePem } from './pem.ts'

/** A certificate request (PKCS #10) whose signature proves possession of the key. */
export interface CertificateRequest extends GeneralNames {
  readonly subject: SubjectName & { readonly organizations: readonly string[] }
  /** SubjectPublicKeyInfo, DER. */
  readonly publicKey: Uint8Array
}

/** Signature algorithms by OID: the digest for `verify`; null where the key's type implies it. */
const digests: Readonly<Record<string, string | null>> = {
  '1.2.840.10045.4.3.2': 'sha256',
  '1.2.840.10045.4.3.3': 'sha384',
  '1.2.840.10045.4.3.4': 'sha512',
  '1.2.840.113549.1.1.11': 'sha256',
  '1.2.840.113549.1.1.12': 'sha384',
  '1.2.840.113549.1.1.13': 'sha512',
  '1.3.101.112': null,
}

const extensionRequest = '1.2.840.113549.1.9.14'

/** Parses a PEM request. Throws `BadCertificate` when it is malformed or not signed by its own key. */
export function readCertificateRequest(pem: string): CertificateRequest {
  const der = decodeOnePem(pem, 'CERTIFICATE REQUEST', 'NEW CERTIFICATE REQUEST')
  let parsed: CertificateRequest | undefined
  try {
    parsed = readRequest(der)
  } catch (cause) {
    throw new TransportError('BadCertificate', 'the certificate request cannot be parsed', { cause })
  }
  if (!parsed)
    throw new TransportError('BadCertificate', 'the certificate request is not signed by its own key')
  return parsed
}

function readRequest(der: Uint8Array): CertificateRequest | undefined {
  const [info, algorithm, signature] = decodeAll(decode(der).content)
  const [, subject, publicKey, attributes] = decodeAll(info!.content)
  const [algorithmId] = decodeAll(algorithm!.content)
  const digest = digests[readObjectIdentifier(algorithmId!.content)]
  if (digest === undefined) throw new RangeError('unknown signature algorithm')
  const key = createPublicKey({ key: Buffer.from(publicKey!.whole), format: 'der', type: 'spki' })
  if (!verify(digest, info!.whole, key, signature!.content.subarray(1))) return undefined
  return {
    subject: decodeName(subject),
    publicKey: publicKey!.whole,
    ...readRequestedNames(attributes?.content ?? new Uint8Array()),
  }
}

function readRequestedNames(attributes: Uint8Array): GeneralNames {
  const names = noNames()
  for (const attribute of decodeAll(attributes)) {
    const [type, values] = decodeAll(attribute.content)
    if (readObjectIdentifier(type!.content) !== extensionRequest) continue
    for (const extensions of decodeAll(values!.content)) readAltNames(decodeAll(extensions.content), names)
  }
  return names
}
