import { type ClientHttp2Session, connect, constants } from 'node:http2'
import { BackwardWriter } from '@coxswain/kit/protobuf'
import type { NetworkProbe, ProbeOutcome } from '../container-runtime.ts'

const method = '/grpc.health.v1.Health/Check'
/** The status of a healthy service. */
const serving = 1
const statusNames: Readonly<Record<number, string>> = { 0: 'UNKNOWN', 2: 'NOT_SERVING', 3: 'SERVICE_UNKNOWN' }
/** gRPC's codes for what a server does not implement. */
const unimplemented = 12

/** Checks a service with the gRPC health protocol, without TLS as the kubelet does. */
export async function probeGrpc(
  host: string,
  { port, service, timeout }: NetworkProbe & { type: 'grpc' },
): Promise<ProbeOutcome> {
  const session = connect(`http://${host}:${port}`)
  try {
    const { body, code, message } = await call(session, encodeRequest(service), timeout)
    if (code === unimplemented) {
      return { success: false, message: 'error: this server does not implement the grpc health protocol' }
    }
    if (code !== 0)
      return { success: false, message: `error: health rpc failed: ${message || `code ${code}`}` }
    const status = decodeStatus(body)
    if (status === serving) return { success: true, message: 'service healthy' }
    const name = statusNames[status] ?? String(status)
    return { success: false, message: `service unhealthy (responded with "${name}")` }
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error)
    const target = `${host}:${port}`
    return {
      success: false,
      message: `timeout: failed to connect service "${target}" within ${timeout}ms: ${text}`,
    }
  } finally {
    session.destroy()
  }
}

interface Answer {
  readonly body: Uint8Array
  readonly code: number
  readonly message: string
}

function call(session: ClientHttp2Session, request: Uint8Array, timeout: number): Promise<Answer> {
  return new Promise((resolve, reject) => {
    session.on('error', reject)
    const stream = session.request({
      ':method': 'POST',
      ':path': method,
      'content-type': 'application/grpc',
      'user-agent': 'kube-probe/1.36',
      te: 'trailers',
    })
    const chunks: Buffer[] = []
    let code: number | undefined
    let message = ''
    const note = (headers: Record<string, unknown>) => {
      const status = headers['grpc-status']
      if (status === undefined) return
      code = Number(status)
      message = decodeURIComponent(String(headers['grpc-message'] ?? ''))
    }
    stream.on('response', headers => {
      note(headers)
      const status = headers[constants.HTTP2_HEADER_STATUS]
      if (Number(status) !== 200) reject(new Error(`unexpected HTTP status ${status}`))
    })
    stream.on('trailers', note)
    stream.on('data', (chunk: Buffer) => chunks.push(chunk))
    stream.on('error', reject)
    stream.on('close', () => resolve({ body: Buffer.concat(chunks), code: code ?? 2, message }))
    stream.setTimeout(timeout, () => reject(new Error('context deadline exceeded')))
    session.setTimeout(timeout, () => reject(new Error('context deadline exceeded')))
    stream.end(request)
  })
}

/** One frame: no compression, its length, and a message whose first field is the service's name. */
function encodeRequest(service: string): Uint8Array {
  const writer = new BackwardWriter()
  if (service !== '') {
    writer.varint(writer.text(service))
    writer.tag(1, 2)
  }
  const header = Buffer.alloc(5)
  header.writeUInt32BE(writer.length, 1)
  return Buffer.concat([header, writer.finish()])
}

/** The first field of the message in the frame, a small number; 0 when it is missing. */
function decodeStatus(body: Uint8Array): number {
  return body.length >= 7 && body[5] === 1 << 3 ? (body[6] ?? 0) : 0
}
