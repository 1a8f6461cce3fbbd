import { type DerElement, readLatin1, readObjectIdentifier } from '@coxswain/kit/x509'
import { decode, decodeAll } from './der.ts'

/** The content of a subject alternative name extension. */
export interface GeneralNames {
  readonly dnsNames: string[]
  /** In text form. */
  readonly ipAddresses: string[]
  readonly emailAddresses: string[]
  readonly uris: string[]
}

const subjectAltName = '2.5.29.17'

export function noNames(): GeneralNames {
  return { dnsNames: [], ipAddresses: [], emailAddresses: [], uris: [] }
}

/** Adds the subject alternative names of `extensions` to `names`. */
export function readAltNames(extensions: readonly DerElement[], names: GeneralNames): void {
  for (const extension of extensions) {
    const fields = decodeAll(extension.content)
    if (readObjectIdentifier(fields[0]!.content) !== subjectAltName) continue
    const value = fields[fields.length - 1]!
    for (const name of decodeAll(decode(value.content).content)) addName(names, name.tag & 0x1f, name.content)
  }
}

function addName(names: GeneralNames, type: number, content: Uint8Array): void {
  switch (type) {
    case 1:
      names.emailAddresses.push(readLatin1(content))
      break
    case 2:
      names.dnsNames.push(readLatin1(content))
      break
    case 6:
      names.uris.push(readLatin1(content))
      break
    case 7:
      names.ipAddresses.push(formatAddress(content))
      break
  }
}

function formatAddress(bytes: Uint8Array): string {
  if (bytes.length === 4) return bytes.join('.')
  if (bytes.length !== 16) throw new RangeError('an IP address must have 4 or 16 bytes')
  const words = Array.from({ length: 8 }, (_, i) => (bytes[i * 2]! * 256 + bytes[i * 2 + 1]!).toString(16))
  return new URL(`http://[${words.join(':')}]`).hostname.slice(1, -1)
}
