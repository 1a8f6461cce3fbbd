export { readFlagFile } from '../../host/flag-file.ts'

/** PEM with certificates. */
export function readCertificates(text: string): string {
  if (!text.includes('-----BEGIN CERTIFICATE-----')) throw new Error('data does not contain any certificate')
  return text
}

/** PEM with a private key. */
export function readPrivateKey(text: string): string {
  if (!/-----BEGIN [A-Z ]*PRIVATE KEY-----/.test(text)) throw new Error('data does not contain a private key')
  return text
}
