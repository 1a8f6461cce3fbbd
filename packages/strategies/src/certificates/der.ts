import { decodeText } from '@coxswain/kit'

/** Just enough DER (X.690) to look into certificates and requests. */

export const tags = {
  bitString: 0x03,
  octetString: 0x04,
  objectIdentifier: 0x06,
  sequence: 0x30,
  set: 0x31,
  bmpString: 0x1e,
} as const

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

export function readText({ tag, content }: DerElement): string {
  if (tag !== tags.bmpString) return decodeText(content)
  let text = ''
  for (let i = 0; i + 1 < content.length; i += 2)
    text += String.fromCharCode(content[i]! * 256 + content[i + 1]!)
  return text
}
