/** Just enough DER (X.690) to read certificates and certificate requests. */

import { decodeText } from '../bytes.ts'

/** The DER tags of certificates and certificate requests. */
export const derTags = {
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  null: 0x05,
  objectIdentifier: 0x06,
  utf8String: 0x0c,
  teletexString: 0x14,
  utcTime: 0x17,
  generalizedTime: 0x18,
  bmpString: 0x1e,
  sequence: 0x30,
  set: 0x31,
  context0: 0xa0,
} as const

/** One element of DER. */
export interface DerElement {
  readonly tag: number
  readonly content: Uint8Array
  /** Tag, length and content. */
  readonly whole: Uint8Array
}

/** The elements that `bytes` consists of; undefined when they are not well-formed. */
export function readDer(bytes: Uint8Array): DerElement[] | undefined {
  const elements: DerElement[] = []
  for (let at = 0; at < bytes.length; ) {
    const element = readElement(bytes, at)
    if (!element) return undefined
    elements.push(element)
    at += element.whole.length
  }
  return elements
}

function readElement(bytes: Uint8Array, at: number): DerElement | undefined {
  const tag = bytes[at]
  const first = bytes[at + 1]
  if (tag === undefined || first === undefined || (tag & 0x1f) === 0x1f) return undefined
  const lengthBytes = first < 0x80 ? 0 : first & 0x7f
  if (first === 0x80 || lengthBytes > 4) return undefined
  let length = lengthBytes === 0 ? first : 0
  for (let i = 0; i < lengthBytes; i++) length = length * 256 + (bytes[at + 2 + i] ?? 0)
  const start = at + 2 + lengthBytes
  if (start + length > bytes.length) return undefined
  const end = start + length
  return { tag, content: bytes.subarray(start, end), whole: bytes.subarray(at, end) }
}

/** The elements within one of that tag; undefined when it is another or not well-formed. */
export function readWithin(element: DerElement | undefined, tag: number): DerElement[] | undefined {
  return element?.tag === tag ? readDer(element.content) : undefined
}

/** An object identifier in dotted form. */
export function readObjectIdentifier(content: Uint8Array): string {
  const arcs: number[] = []
  let value = 0
  for (const byte of content) {
    value = value * 128 + (byte & 0x7f)
    if (byte & 0x80) continue
    const first = Math.min(2, Math.floor(value / 40))
    if (arcs.length === 0) arcs.push(first, value - first * 40)
    else arcs.push(value)
    value = 0
  }
  return arcs.join('.')
}

/** A character string of any of the usual types; Teletex is read as Latin-1, as is common practice. */
export function readDerText({ tag, content }: DerElement): string {
  switch (tag) {
    case derTags.bmpString: {
      let text = ''
      for (let i = 0; i + 1 < content.length; i += 2)
        text += String.fromCharCode(content[i]! * 256 + content[i + 1]!)
      return text
    }
    case derTags.teletexString:
      return readLatin1(content)
    default:
      return decodeText(content)
  }
}

/** A character for each byte. */
export function readLatin1(bytes: Uint8Array): string {
  let text = ''
  for (const byte of bytes) text += String.fromCharCode(byte)
  return text
}

/** A UTCTime or GeneralizedTime in milliseconds since the epoch; NaN when it is neither. */
export function readDerTime({ tag, content }: DerElement): number {
  const digits = readLatin1(content)
  const year =
    tag === derTags.utcTime
      ? (Number(digits.slice(0, 2)) < 50 ? '20' : '19') + digits.slice(0, 2)
      : digits.slice(0, 4)
  const rest = digits.slice(tag === derTags.utcTime ? 2 : 4)
  const part = (from: number) => rest.slice(from, from + 2)
  return Date.parse(`${year}-${part(0)}-${part(2)}T${part(4)}:${part(6)}:${part(8)}Z`)
}
