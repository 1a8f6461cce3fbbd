import { TransportError } from '../errors.ts'
import type { WireHeaders } from '../message.ts'
import { type ByteReader, brokenOff } from './byte-reader.ts'

/** The head of a response. */
export interface Http1Head {
  readonly status: number
  readonly headers: WireHeaders
}

/** Limits of a whole head, and of each chunk-size line. */
const headLimit = 1024 * 1024
const chunkLineLimit = 4096

const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/

/** Throws `BadMessage` when it is not HTTP/1, `ConnectionLost` when the connection ends first. */
export async function readHead(reader: ByteReader): Promise<Http1Head> {
  const first = await reader.readLine(headLimit)
  if (first === undefined) throw new TransportError('ConnectionLost', 'EOF')
  const [, status] = /^HTTP\/1\.[01] ([1-9]\d\d)(?: |$)/.exec(first) ?? []
  if (status === undefined) throw bad(`malformed HTTP response ${JSON.stringify(first.slice(0, 100))}`)
  const headers: Record<string, string | string[]> = Object.create(null)
  let left = headLimit - first.length
  for (;;) {
    const line = await reader.readLine(left)
    if (line === undefined) throw brokenOff()
    if (line === '') return { status: Number(status), headers }
    left -= line.length + 1
    addHeader(headers, line)
  }
}

function addHeader(headers: Record<string, string | string[]>, line: string): void {
  const at = line.indexOf(':')
  const name = line.slice(0, Math.max(0, at)).toLowerCase()
  const value = line.slice(at + 1).trim()
  if (!token.test(name) || /[\0\r]/.test(value)) throw bad('malformed MIME header line')
  const held = headers[name]
  if (held === undefined) headers[name] = value
  else if (typeof held === 'object') held.push(value)
  else headers[name] = [held, value]
}

/** How the end of a body is determined. */
export type Framing =
  | { readonly kind: 'none' }
  | { readonly kind: 'length'; readonly length: number }
  | { readonly kind: 'chunked' }
  | { readonly kind: 'until close' }

/** Throws for a response whose end is ambiguous. */
export function framingOf(method: string, { status, headers }: Http1Head): Framing {
  if (method === 'HEAD' || status === 204 || status === 304 || status < 200) return { kind: 'none' }
  const coding = headers['transfer-encoding']
  if (coding !== undefined) {
    if (typeof coding === 'object' || coding.toLowerCase() !== 'chunked')
      throw bad('unsupported transfer encoding')
    return { kind: 'chunked' }
  }
  const declared = headers['content-length']
  if (declared === undefined) return { kind: 'until close' }
  const [length = '', ...others] = typeof declared === 'object' ? declared : [declared]
  if (!/^\d{1,15}$/.test(length) || others.some(other => other !== length)) throw bad('bad Content-Length')
  return { kind: 'length', length: Number(length) }
}

/** The bytes of a body, without its framing. Throws when the connection ends before the body does. */
export async function* readFramed(
  reader: ByteReader,
  framing: Framing,
): AsyncGenerator<Uint8Array, void, undefined> {
  if (framing.kind === 'length') yield* readExactly(reader, framing.length)
  else if (framing.kind === 'chunked') yield* readChunks(reader)
  else if (framing.kind === 'until close') {
    for (;;) {
      const piece = await reader.take()
      if (!piece) return
      yield piece
    }
  }
}

async function* readExactly(reader: ByteReader, length: number): AsyncGenerator<Uint8Array, void, undefined> {
  for (let left = length; left > 0; ) {
    const piece = await reader.take(left)
    if (!piece) throw brokenOff()
    left -= piece.length
    yield piece
  }
}

async function* readChunks(reader: ByteReader): AsyncGenerator<Uint8Array, void, undefined> {
  for (;;) {
    const line = await reader.readLine(chunkLineLimit)
    if (line === undefined) throw brokenOff()
    const [, size] = /^([0-9a-fA-F]{1,13})[ \t]*(?:;.*)?$/.exec(line) ?? []
    if (size === undefined) throw bad('malformed chunked encoding')
    const length = Number.parseInt(size, 16)
    if (length === 0) break
    yield* readExactly(reader, length)
    if ((await reader.readLine(2)) !== '') throw bad('malformed chunked encoding')
  }
  // Trailers are read and discarded.
  for (let left = headLimit; ; ) {
    const line = await reader.readLine(left)
    if (line === undefined) throw brokenOff()
    if (line === '') return
    left -= line.length + 1
  }
}

function bad(message: string): TransportError {
  return new TransportError('BadMessage', `net/http: HTTP/1.x transport connection broken: ${message}`)
}
