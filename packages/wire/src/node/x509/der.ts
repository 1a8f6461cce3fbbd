/** Just enough DER (X.690) to write and read certificates. */

export const tag = {
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  null: 0x05,
  oid: 0x06,
  utf8String: 0x0c,
  printableString: 0x13,
  teletexString: 0x14,
  ia5String: 0x16,
  utcTime: 0x17,
  generalizedTime: 0x18,
  universalString: 0x1c,
  bmpString: 0x1e,
  sequence: 0x30,
  set: 0x31,
} as const

/** A context-specific tag: `[n]`, constructed unless `primitive`. */
export function contextTag(n: number, primitive = false): number {
  return (primitive ? 0x80 : 0xa0) | n
}

export function encode(type: number, ...parts: readonly Uint8Array[]): Buffer {
  const content = parts.length === 1 ? parts[0]! : Buffer.concat(parts)
  return Buffer.concat([Buffer.from([type, ...encodeLength(content.length)]), content])
}

function encodeLength(length: number): number[] {
  if (length < 0x80) return [length]
  const bytes: number[] = []
  for (let rest = length; rest > 0; rest = Math.floor(rest / 256)) bytes.unshift(rest % 256)
  return [0x80 | bytes.length, ...bytes]
}

export function sequence(...parts: readonly Uint8Array[]): Buffer {
  return encode(tag.sequence, ...parts)
}

/** A non-negative integer given by its big-endian bytes. */
export function integer(bytes: Uint8Array): Buffer {
  let start = 0
  while (start < bytes.length - 1 && bytes[start] === 0) start++
  const trimmed = bytes.subarray(start)
  return (trimmed[0] ?? 0) >= 0x80
    ? encode(tag.integer, Buffer.from([0]), trimmed)
    : encode(tag.integer, trimmed)
}

export function oid(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number)
  const bytes = [first * 40 + second]
  for (const arc of rest) {
    const digits = [arc % 128]
    for (let left = Math.floor(arc / 128); left > 0; left = Math.floor(left / 128)) {
      digits.unshift((left % 128) | 0x80)
    }
    for (const item of digits) bytes.push(item)
  }
  return encode(tag.oid, Buffer.from(bytes))
}

export function boolean(value: boolean): Buffer {
  return encode(tag.boolean, Buffer.from([value ? 0xff : 0]))
}

export function utf8(text: string): Buffer {
  return encode(tag.utf8String, Buffer.from(text, 'utf8'))
}

/** Whole bytes. */
export function bitString(bytes: Uint8Array, unusedBits = 0): Buffer {
  return encode(tag.bitString, Buffer.from([unusedBits]), bytes)
}

/** UTCTime up to 2049, GeneralizedTime from 2050, as RFC 5280 demands. */
export function time(ms: number): Buffer {
  const digits = new Date(ms).toISOString().replace(/[-:T]|\.\d+/g, '')
  return Number(digits.slice(0, 4)) < 2050
    ? encode(tag.utcTime, Buffer.from(digits.slice(2)))
    : encode(tag.generalizedTime, Buffer.from(digits))
}

/** An element as it was read. */
export interface Element {
  readonly tag: number
  readonly content: Buffer
  /** Tag, length and content. */
  readonly whole: Buffer
}

/** The elements that `bytes` consists of. Throws a RangeError when they are not well-formed. */
export function decodeAll(bytes: Uint8Array): Element[] {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
  const elements: Element[] = []
  for (let at = 0; at < buffer.length; ) {
    const element = decodeAt(buffer, at)
    elements.push(element)
    at += element.whole.length
  }
  return elements
}

/** The one element at the start of `bytes`. Throws a RangeError when it is not well-formed. */
export function decode(bytes: Uint8Array): Element {
  return decodeAt(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length), 0)
}

function decodeAt(buffer: Buffer, at: number): Element {
  const type = buffer.readUInt8(at)
  const first = buffer.readUInt8(at + 1)
  const sizeBytes = first < 0x80 ? 0 : first & 0x7f
  if (sizeBytes > 4 || first === 0x80) throw new RangeError('DER: unsupported length')
  const length = sizeBytes === 0 ? first : buffer.readUIntBE(at + 2, sizeBytes)
  const start = at + 2 + sizeBytes
  if (start + length > buffer.length) throw new RangeError('DER: truncated')
  return {
    tag: type,
    content: buffer.subarray(start, start + length),
    whole: buffer.subarray(at, start + length),
  }
}

export function decodeOid(content: Uint8Array): string {
  const arcs: number[] = []
  let value = 0
  for (const byte of content) {
    value = value * 128 + (byte & 0x7f)
    if (byte & 0x80) continue
    if (arcs.length === 0) {
      const first = Math.min(2, Math.floor(value / 40))
      arcs.push(first, value - first * 40)
    } else {
      arcs.push(value)
    }
    value = 0
  }
  return arcs.join('.')
}

export function decodeText({ tag: type, content }: Element): string {
  switch (type) {
    case tag.bmpString:
      return Buffer.from(content).swap16().toString('utf16le')
    case tag.teletexString:
      return content.toString('latin1')
    default:
      return content.toString('utf8')
  }
}

/** Milliseconds since the epoch. */
export function decodeTime({ tag: type, content }: Element): number {
  const digits = content.toString('latin1')
  const year =
    type === tag.utcTime
      ? (Number(digits.slice(0, 2)) < 50 ? '20' : '19') + digits.slice(0, 2)
      : digits.slice(0, 4)
  const rest = digits.slice(type === tag.utcTime ? 2 : 4)
  const part = (from: number) => rest.slice(from, from + 2)
  return Date.parse(`${year}-${part(0)}-${part(2)}T${part(4)}:${part(6)}:${part(8)}Z`)
}
