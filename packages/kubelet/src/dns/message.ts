/** The supported record types, by their numbers (RFC 1035, 2782, 3596). */
export const recordTypes = { A: 1, NS: 2, CNAME: 5, SOA: 6, PTR: 12, TXT: 16, AAAA: 28, SRV: 33 } as const

export type RecordType = keyof typeof recordTypes

export const responseCodes = {
  NOERROR: 0,
  FORMERR: 1,
  SERVFAIL: 2,
  NXDOMAIN: 3,
  NOTIMP: 4,
  REFUSED: 5,
} as const

export type ResponseCode = keyof typeof responseCodes

export type RecordData =
  /** As many bytes as an address has: 4 or 16. */
  | { readonly type: 'A' | 'AAAA'; readonly address: Uint8Array }
  | { readonly type: 'CNAME' | 'PTR' | 'NS'; readonly target: string }
  | {
      readonly type: 'SRV'
      readonly priority: number
      readonly weight: number
      readonly port: number
      readonly target: string
    }
  | { readonly type: 'TXT'; readonly text: string }
  | {
      readonly type: 'SOA'
      readonly server: string
      readonly mailbox: string
      readonly times: readonly number[]
    }

/** Names are in lower case, without a dot at the end. */
export interface DnsRecord {
  readonly name: string
  readonly data: RecordData
}

export interface DnsQuestion {
  readonly name: string
  /** A number, supported or not. */
  readonly type: number
  readonly class: number
}

export type ParsedQuery =
  /** Not a query: it gets no answer. */
  | { readonly kind: 'noise' }
  | { readonly kind: 'malformed' | 'unsupported'; readonly header: QueryHeader }
  | { readonly kind: 'query'; readonly header: QueryHeader; readonly question: DnsQuestion }

export interface QueryHeader {
  readonly id: number
  readonly opcode: number
  readonly recursionDesired: boolean
  /** As it was sent: the client compares its case. Empty when it could not be parsed. */
  readonly question: Uint8Array
  /** The largest datagram that the client accepts; undefined without EDNS (RFC 6891). */
  readonly maxSize?: number
}

export interface DnsAnswer {
  readonly code: ResponseCode
  readonly isAuthoritative: boolean
  readonly answers: readonly DnsRecord[]
  readonly authorities: readonly DnsRecord[]
  readonly additionals: readonly DnsRecord[]
}

const headerSize = 12
const maxLabel = 63
const maxName = 255
const optType = 41
const classIN = 1
/** The TTL of answers in seconds, CoreDNS' for Services. */
const timeToLive = 5
/** Datagrams of this size are not fragmented. */
const safeDatagram = 1232
const plainDatagram = 512
const maxMessage = 65_535

/** Never throws, whatever the bytes are. */
export function parseQuery(bytes: Uint8Array): ParsedQuery {
  if (bytes.length < headerSize) return { kind: 'noise' }
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const flags = view.getUint16(2)
  if (flags & 0x8000) return { kind: 'noise' } // a response: answering it could loop
  const header: QueryHeader = {
    id: view.getUint16(0),
    opcode: (flags >> 11) & 15,
    recursionDesired: (flags & 0x0100) !== 0,
    question: new Uint8Array(),
  }
  if (header.opcode !== 0) return { kind: 'unsupported', header }
  const name = readName(bytes, headerSize)
  if (view.getUint16(4) !== 1 || !name || name.end + 4 > bytes.length) return { kind: 'malformed', header }
  const end = name.end + 4
  const question = { name: name.text, type: view.getUint16(name.end), class: view.getUint16(name.end + 2) }
  const isPlain = view.getUint16(6) === 0 && view.getUint16(8) === 0
  const maxSize = isPlain && view.getUint16(10) > 0 ? readDatagramSize(bytes, view, end) : undefined
  return {
    kind: 'query',
    header: { ...header, question: bytes.slice(headerSize, end), ...(maxSize !== undefined && { maxSize }) },
    question,
  }
}

/** Questions come first: a name has nothing to point back to. */
function readName(bytes: Uint8Array, start: number): { text: string; end: number } | undefined {
  const labels: string[] = []
  let at = start
  for (;;) {
    const length = bytes[at]
    if (length === undefined || length > maxLabel) return undefined
    at++
    if (length === 0) break
    if (at + length > bytes.length || at + length - start >= maxName) return undefined
    let label = ''
    for (const byte of bytes.subarray(at, at + length)) label += String.fromCharCode(byte)
    // A dot within a label does not separate labels.
    if (label.includes('.')) return undefined
    labels.push(label)
    at += length
  }
  return { text: labels.join('.').toLowerCase(), end: at }
}

function readDatagramSize(bytes: Uint8Array, view: DataView, at: number): number | undefined {
  if (bytes[at] !== 0 || at + 11 > bytes.length || view.getUint16(at + 1) !== optType) return undefined
  return Math.min(Math.max(view.getUint16(at + 3), plainDatagram), safeDatagram)
}

/** Records that do not fit are left out: a datagram then has the truncation flag, a TCP message ends at 64 KiB. */
export function encodeAnswer(header: QueryHeader, answer: DnsAnswer, transport: 'udp' | 'tcp'): Uint8Array {
  const limit = transport === 'tcp' ? maxMessage : (header.maxSize ?? plainDatagram)
  const writer = new Writer(limit - (header.maxSize === undefined ? 0 : 11))
  const { code, isAuthoritative } = answer
  writer.uint16(header.id)
  writer.uint16(
    0x8000 |
      (header.opcode << 11) |
      (isAuthoritative ? 0x0400 : 0) |
      (header.recursionDesired ? 0x0100 : 0) |
      responseCodes[code],
  )
  const hasQuestion = header.question.length > 0
  writer.uint16(hasQuestion ? 1 : 0)
  for (let section = 0; section < 3; section++) writer.uint16(0)
  writer.bytes(header.question)
  let isCut = false
  const sections = [answer.answers, answer.authorities, answer.additionals]
  for (const [index, records] of sections.entries()) {
    let count = 0
    for (const record of records) {
      if (!writer.record(record)) {
        // A client that needs a missing additional record asks for it.
        isCut ||= index < 2
        break
      }
      count++
    }
    writer.patch(6 + index * 2, count)
    if (isCut) break
  }
  if (isCut) writer.setFlag(0x0200)
  if (header.maxSize !== undefined) writer.option()
  return writer.take()
}

class Writer {
  readonly #limit: number
  #buffer = new Uint8Array(plainDatagram)
  #length = 0

  constructor(limit: number) {
    this.#limit = limit
  }

  uint16(value: number): void {
    this.#reserve(2)
    this.#buffer[this.#length++] = value >> 8
    this.#buffer[this.#length++] = value
  }

  bytes(bytes: Uint8Array): void {
    this.#reserve(bytes.length)
    this.#buffer.set(bytes, this.#length)
    this.#length += bytes.length
  }

  /** False when it does not fit: nothing is written then. */
  record({ name, data }: DnsRecord): boolean {
    const before = this.#length
    this.#name(name)
    this.uint16(recordTypes[data.type])
    this.uint16(classIN)
    this.#uint32(timeToLive)
    const at = this.#length
    this.uint16(0)
    this.#data(data)
    this.patch(at, this.#length - at - 2)
    if (this.#length <= this.#limit) return true
    this.#length = before
    return false
  }

  patch(at: number, value: number): void {
    this.#buffer[at] = value >> 8
    this.#buffer[at + 1] = value
  }

  setFlag(flag: number): void {
    this.#buffer[2]! |= flag >> 8
  }

  /** The OPT record that ends a message to a client with EDNS. */
  option(): void {
    this.bytes(new Uint8Array([0, 0, optType, safeDatagram >> 8, safeDatagram & 255, 0, 0, 0, 0, 0, 0]))
    this.patch(10, ((this.#buffer[10]! << 8) | this.#buffer[11]!) + 1)
  }

  take(): Uint8Array {
    return this.#buffer.slice(0, this.#length)
  }

  #data(data: RecordData): void {
    switch (data.type) {
      case 'A':
      case 'AAAA':
        this.bytes(data.address)
        return
      case 'SRV':
        for (const value of [data.priority, data.weight, data.port]) this.uint16(value)
        this.#name(data.target)
        return
      case 'TXT':
        this.bytes(new Uint8Array([data.text.length, ...encodeLatin(data.text)]))
        return
      case 'SOA':
        this.#name(data.server)
        this.#name(data.mailbox)
        for (const value of data.times) this.#uint32(value)
        return
      default:
        this.#name(data.target)
    }
  }

  #name(name: string): void {
    for (const label of name.split('.')) {
      const bytes = encodeLatin(label).subarray(0, maxLabel)
      if (bytes.length === 0) continue
      this.bytes(new Uint8Array([bytes.length]))
      this.bytes(bytes)
    }
    this.bytes(new Uint8Array(1))
  }

  #uint32(value: number): void {
    this.uint16((value >>> 16) & 0xffff)
    this.uint16(value & 0xffff)
  }

  #reserve(count: number): void {
    if (this.#length + count <= this.#buffer.length) return
    const larger = new Uint8Array(Math.max(this.#buffer.length * 2, this.#length + count))
    larger.set(this.#buffer)
    this.#buffer = larger
  }
}

function encodeLatin(text: string): Uint8Array {
  return Uint8Array.from(text, char => char.charCodeAt(0))
}
