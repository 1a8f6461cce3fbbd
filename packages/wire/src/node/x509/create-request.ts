import { createPrivateKey, createPublicKey, sign } from 'node:crypto'
import { bitString, contextTag, encode, integer, oid, sequence } from './der.ts'
import { encodeName, type SubjectName } from './name.ts'
import { encodePem } from './pem.ts'

const ecdsaWithSha256 = sequence(oid('1.2.840.10045.4.3.2'))

/** A certificate request (PKCS #10) of a subject, signed by its own EC key (PEM); in PEM. */
export function createCertificateRequest(subject: SubjectName, key: string): string {
  const privateKey = createPrivateKey(key)
  const publicKey = createPublicKey(privateKey).export({ type: 'spki', format: 'der' })
  const noAttributes = encode(contextTag(0))
  const info = sequence(integer(Buffer.from([0])), encodeName(subject), publicKey, noAttributes)
  const signature = sign('sha256', info, privateKey)
  return encodePem('CERTIFICATE REQUEST', sequence(info, ecdsaWithSha256, bitString(signature)))
}
