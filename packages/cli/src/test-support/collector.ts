import { createServer, type ServerHttp2Stream } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { ProtobufReader } from '@coxswain/kit/protobuf'

/** A span as a collector receives it; ids in hexadecimal. */
export interface ReceivedSpan {
  readonly service: string
  readonly name: string
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId: string
}

export interface Collector extends AsyncDisposable {
  readonly port: number
  readonly spans: readonly ReceivedSpan[]
}

/** Receives OTLP over gRPC on a loopback port. */
export async function startCollector(): Promise<Collector> {
  const spans: ReceivedSpan[] = []
  const server = createServer()
  server.on('stream', (stream: ServerHttp2Stream, headers) => {
    const chunks: Buffer[] = []
    stream.on('data', (chunk: Buffer) => chunks.push(chunk))
    stream.on('end', () => {
      const path = '/opentelemetry.proto.collector.trace.v1.TraceService/Export'
      // A message of gRPC begins with a flag and its length.
      if (headers[':path'] === path) spans.push(...readRequest(Buffer.concat(chunks).subarray(5)))
      stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }))
      stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true })
      stream.end(Buffer.alloc(5))
    })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    spans,
    [Symbol.asyncDispose]: async () => void server.close(),
  }
}

/** The members of a message that are messages, texts or bytes, by number. */
function membersOf(bytes: Uint8Array): Map<number, Uint8Array[]> {
  const reader = new ProtobufReader(bytes)
  const members = new Map<number, Uint8Array[]>()
  while (!reader.done) {
    const tag = reader.varint()
    if ((tag & 7) !== 2) {
      reader.skip(tag & 7)
      continue
    }
    const number = Math.floor(tag / 8)
    members.set(number, [...(members.get(number) ?? []), reader.bytes()])
  }
  return members
}

const inside = (messages: readonly Uint8Array[], number: number): Uint8Array[] =>
  messages.flatMap(message => membersOf(message).get(number) ?? [])
const textOf = (bytes: Uint8Array | undefined): string => Buffer.from(bytes ?? []).toString()
const hexOf = (bytes: Uint8Array | undefined): string => Buffer.from(bytes ?? []).toString('hex')

/** An ExportTraceServiceRequest: resource spans, each with a resource and scope spans, which have the spans. */
function readRequest(bytes: Uint8Array): ReceivedSpan[] {
  return inside([bytes], 1).flatMap(resourceSpans => {
    const attributes = inside(inside([resourceSpans], 1), 1)
    const named = attributes.find(attribute => textOf(inside([attribute], 1)[0]) === 'service.name')
    const service = textOf(inside(inside(named ? [named] : [], 2), 1)[0])
    return inside(inside([resourceSpans], 2), 2).map(span => {
      const members = membersOf(span)
      const first = (number: number) => members.get(number)?.[0]
      return {
        service,
        name: textOf(first(5)),
        traceId: hexOf(first(1)),
        spanId: hexOf(first(2)),
        parentSpanId: hexOf(first(4)),
      }
    })
  })
}
