import { TransportError } from '../../errors.ts'

export function encodePem(label: string, der: Uint8Array): string {
  const base64 = Buffer.from(der).toString('base64')
  return `-----BEGIN ${label}-----\n${base64.replace(/.{1,64}/g, '$&\n')}-----END ${label}-----\n`
}

/** Every block of that label, in order. */
export function decodePem(label: string, pem: string): Buffer[] {
  const form = new RegExp(`-----BEGIN ${label}-----([A-Za-z0-9+/=\\s]+)-----END ${label}-----`, 'g')
  return Array.from(pem.matchAll(form), match => Buffer.from(match[1] ?? '', 'base64'))
}

export function decodeOnePem(label: string, pem: string): Buffer {
  const [first] = decodePem(label, pem)
  if (!first) throw new TransportError('BadCertificate', `there is no "${label}" in the PEM text`)
  return first
}
