import type { WatchedEvent } from './scenario.ts'

/** Takes whole frames off the front of what has come in. */
export interface Framing {
  push(chunk: Buffer): Buffer[]
  /** What is left at the end of the stream. */
  rest(): Buffer
}

/** One event a line. */
export function lines(): Framing {
  let pending: Buffer = Buffer.alloc(0)
  return {
    push(chunk) {
      pending = Buffer.concat([pending, chunk])
      const found: Buffer[] = []
      for (let end = pending.indexOf(10); end >= 0; end = pending.indexOf(10)) {
        if (end > 0) found.push(pending.subarray(0, end))
        pending = pending.subarray(end + 1)
      }
      return found
    },
    rest: () => pending,
  }
}

/** Four bytes of length before each event. */
export function lengths(): Framing {
  let pending: Buffer = Buffer.alloc(0)
  return {
    push(chunk) {
      pending = Buffer.concat([pending, chunk])
      const found: Buffer[] = []
      while (pending.length >= 4 && pending.length >= 4 + pending.readUInt32BE(0)) {
        const end = 4 + pending.readUInt32BE(0)
        found.push(pending.subarray(4, end))
        pending = pending.subarray(end)
      }
      return found
    },
    rest: () => Buffer.alloc(0),
  }
}

/** A message of a WebSocket, or what its control frames mean. */
export interface Message {
  readonly kind: 'text' | 'binary' | 'close' | 'ping'
  readonly data: Buffer
}

/** Frames of RFC 6455 as a server sends them: not masked. Fragments are joined. */
export function webSocketMessages(): (chunk: Buffer) => Message[] {
  let pending: Buffer = Buffer.alloc(0)
  let kind: Message['kind'] = 'text'
  let parts: Buffer[] = []
  const kinds = { 1: 'text', 2: 'binary', 8: 'close', 9: 'ping' } as const
  return chunk => {
    pending = Buffer.concat([pending, chunk])
    const found: Message[] = []
    for (;;) {
      if (pending.length < 2) return found
      const short = pending[1]! & 127
      const head = short === 126 ? 4 : short === 127 ? 10 : 2
      if (pending.length < head) return found
      const length =
        short === 126 ? pending.readUInt16BE(2) : short === 127 ? Number(pending.readBigUInt64BE(2)) : short
      if (pending.length < head + length) return found
      const opcode = pending[0]! & 15
      const isLast = (pending[0]! & 128) !== 0
      const data = pending.subarray(head, head + length)
      pending = pending.subarray(head + length)
      if (opcode === 8 || opcode === 9) {
        found.push({ kind: kinds[opcode], data })
        continue
      }
      if (opcode === 1 || opcode === 2) kind = kinds[opcode]
      parts.push(data)
      if (!isLast) continue
      found.push({ kind, data: Buffer.concat(parts) })
      parts = []
    }
  }
}

/** The last value of each field of a protobuf message, by number; varints as numbers. */
function protobufFields(data: Uint8Array): Map<number, Uint8Array | number> {
  const found = new Map<number, Uint8Array | number>()
  let at = 0
  const varint = () => {
    let value = 0
    for (let shift = 0; ; shift += 7) {
      const byte = data[at++]!
      value += (byte & 127) * 2 ** shift
      if (byte < 128) return value
    }
  }
  while (at < data.length) {
    const tag = varint()
    const form = tag & 7
    if (form === 0) found.set(tag >>> 3, varint())
    else {
      const length = form === 2 ? varint() : form === 1 ? 8 : 4
      found.set(tag >>> 3, data.subarray(at, at + length))
      at += length
    }
  }
  return found
}

const bytesOf = (fields: Map<number, Uint8Array | number>, number: number): Uint8Array => {
  const value = fields.get(number)
  return value instanceof Uint8Array ? value : new Uint8Array()
}

/** Of a protobuf watch event: type, apiVersion, kind, name, namespace, resourceVersion and one annotation. */
export function protobufEvent(frame: Uint8Array): WatchedEvent {
  const text = (fields: Map<number, Uint8Array | number>, number: number) =>
    new TextDecoder().decode(bytesOf(fields, number))
  const event = protobufFields(frame)
  const type = text(event, 1)
  const raw = bytesOf(protobufFields(bytesOf(event, 2)), 1)
  if (!Buffer.from(raw.subarray(0, 4)).equals(Buffer.from('k8s\0')))
    return { type, object: { raw: 'no k8s prefix' } }
  const unknown = protobufFields(raw.subarray(4))
  const typeMeta = protobufFields(bytesOf(unknown, 1))
  const kind = text(typeMeta, 2)
  const meta =
    kind === 'Status'
      ? new Map<number, Uint8Array | number>()
      : protobufFields(bytesOf(protobufFields(bytesOf(unknown, 2)), 1))
  const metadata: Record<string, unknown> = {}
  for (const [name, number] of [
    ['name', 1],
    ['namespace', 3],
    ['resourceVersion', 6],
  ] as const) {
    if (text(meta, number) !== '') metadata[name] = text(meta, number)
  }
  if (bytesOf(meta, 12).length > 0) {
    const entry = protobufFields(bytesOf(meta, 12))
    metadata.annotations = { [text(entry, 1)]: text(entry, 2) }
  }
  return { type, object: { apiVersion: text(typeMeta, 1), kind, metadata } }
}
