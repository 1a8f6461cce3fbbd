import { encodeBase64 } from '@coxswain/kit'
import { readPem } from '@coxswain/kit/x509'
import { TransportError } from '../../errors.ts'

/** A PEM block with this label. */
export function encodePem(label: string, der: Uint8Array): string {
  const base64 = encodeBase64(der)
  return `-----BEGIN ${label}-----\n${base64.replace(/.{1,64}/g, '$&\n')}-----END ${label}-----\n`
}

/** Every block with that label, in order. */
export function decodePem(label: string, pem: string): Uint8Array[] {
  return [...readPem(pem)].filter(({ type }) => type === label).map(({ bytes }) => bytes)
}

/** The first block with one of the labels. Throws `BadCertificate` when there is none. */
export function decodeOnePem(pem: string, ...labels: readonly string[]): Uint8Array {
  for (const { type, bytes } of readPem(pem)) if (labels.includes(type)) return bytes
  throw new TransportError('BadCertificate', `the PEM text has no "${labels[0]}" block`)
}
