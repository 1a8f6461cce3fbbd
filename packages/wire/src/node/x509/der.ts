/** Just enough DER (X.690) to write certificates; `kit` reads it. */

import { type DerElement, readDer, derTags as tag } from '@coxswain/kit/x509'

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
  return encode(tag.objectIdentifier, Buffer.from(bytes))
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

/** UTCTime up to 2049, GeneralizedTime from 2050, as RFC 5280 requires. */
export function time(ms: number): Buffer {
  const digits = new Date(ms).toISOString().replace(/[-:T]|\.\d+/g, '')
  return Number(digits.slice(0, 4)) < 2050
    ? encode(tag.utcTime, Buffer.from(digits.slice(2)))
    : encode(tag.generalizedTime, Buffer.from(digits))
}

/** The elements of `bytes`. Throws a RangeError when they are not well-formed. */
export function decodeAll(bytes: Uint8Array): DerElement[] {
  const elements = readDer(bytes)
  if (!elements) throw new RangeError('DER: malformed')
  return elements
}

/** The single element of `bytes`. Throws a RangeError when it is not well-formed. */
export function decode(bytes: Uint8Array): DerElement {
  const [element, ...others] = decodeAll(bytes)
  if (!element || others.length > 0) throw new RangeError('DER: not one element')
  return element
}
