import { decode, decodeAll, decodeOid, type Element } from './der.ts'

/** What a subject alternative name extension lists. */
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

/** Adds to `names` what the subject alternative names among `extensions` say. */
export function readAltNames(extensions: readonly Element[], names: GeneralNames): void {
  for (const extension of extensions) {
    const fields = decodeAll(extension.content)
    if (decodeOid(fields[0]!.content) !== subjectAltName) continue
    const value = fields[fields.length - 1]!
    for (const name of decodeAll(decode(value.content).content)) addName(names, name.tag & 0x1f, name.content)
  }
}

function addName(names: GeneralNames, type: number, content: Buffer): void {
  switch (type) {
    case 1:
      names.emailAddresses.push(content.toString('latin1'))
      break
    case 2:
      names.dnsNames.push(content.toString('latin1'))
      break
    case 6:
      names.uris.push(content.toString('latin1'))
      break
    case 7:
      names.ipAddresses.push(formatAddress(content))
      break
  }
}

function formatAddress(bytes: Buffer): string {
  if (bytes.length === 4) return bytes.join('.')
  if (bytes.length !== 16) throw new RangeError('an IP address of neither 4 nor 16 bytes')
  const words = Array.from({ length: 8 }, (_, i) => bytes.readUInt16BE(i * 2).toString(16))
  return new URL(`http://[${words.join(':')}]`).hostname.slice(1, -1)
}
