import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http'
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { ProjectError } from '../../errors.ts'
import type { ByteStream } from '../image/blob.ts'

export interface HttpRequest {
  readonly method: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH'
  readonly url: URL
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: { readonly length: number; open(): ByteStream }
}

/** A response whose body has to be read or discarded. */
export interface HttpResponse {
  readonly status: number
  header(name: string): string | undefined
  readonly body: ByteStream
  discard(): void
}

/** A failure that may not happen again: of the connection, or a status that asks to come back. */
export class TransientFailure extends Error {
  override readonly name = 'TransientFailure'
  /** In milliseconds, when the server says so. */
  readonly retryAfter: number | undefined

  constructor(
    message: string,
    options: { readonly retryAfter?: number | undefined; readonly cause?: unknown } = {},
  ) {
    super(message, { cause: options.cause })
    this.retryAfter = options.retryAfter
  }
}

export interface HttpClientOptions {
  /** The longest time without a byte in either direction, in milliseconds. */
  readonly idleTimeout: number
  /** Whether certificates are verified. */
  readonly verify: boolean
  readonly environment: Readonly<Record<string, string | undefined>>
}

/** Sends single requests: no redirects, no credentials of its own. */
export interface HttpClient extends Disposable {
  send(request: HttpRequest): Promise<HttpResponse>
}

export function createHttpClient({ idleTimeout, verify, environment }: HttpClientOptions): HttpClient {
  const settings = { keepAlive: true, maxSockets: 4, proxyEnv: { ...environment } }
  const plain = new HttpAgent(settings)
  const secure = new HttpsAgent({ ...settings, rejectUnauthorized: verify })
  return {
    async send({ method, url, headers = {}, body }) {
      const isSecure = url.protocol === 'https:'
      const agent = isSecure ? secure : plain
      const length = body === undefined ? {} : { 'content-length': String(body.length) }
      const sent = (isSecure ? httpsRequest : httpRequest)(url, {
        method,
        agent,
        headers: { 'user-agent': 'coxswain', ...headers, ...length },
      } as Parameters<typeof httpsRequest>[1] & object)
      sent.setTimeout(idleTimeout, () =>
        sent.destroy(
          Object.assign(new Error(`no answer within ${idleTimeout / 1000} s`), { code: 'ETIMEDOUT' }),
        ),
      )
      const answered = new Promise<IncomingMessage>((resolve, reject) => {
        sent.on('response', resolve)
        sent.on('error', reject)
      })
      answered.catch(() => {}) // awaited below, after the body
      let response: IncomingMessage
      try {
        const written = body === undefined ? void sent.end() : pipeline(Readable.from(body.open()), sent)
        // A server may answer before it has read everything, and close: its answer says why.
        await Promise.race([answered, written])
        response = await answered
      } catch (cause) {
        sent.destroy()
        if (cause instanceof ProjectError) throw cause
        throw explain(url, cause)
      }
      return wrap(url, response)
    },
    [Symbol.dispose]() {
      plain.destroy()
      secure.destroy()
    },
  }
}

function wrap(url: URL, response: IncomingMessage): HttpResponse {
  async function* body(): ByteStream {
    try {
      yield* response as ByteStream
    } catch (cause) {
      throw explain(url, cause)
    } finally {
      response.destroy()
    }
  }
  return {
    status: response.statusCode ?? 0,
    header(name) {
      const value = response.headers[name]
      return Array.isArray(value) ? value[0] : value
    },
    body: body(),
    discard() {
      if (response.complete) response.resume()
      else if (Number(response.headers['content-length'] ?? 1) > 65_536) response.destroy()
      else response.resume()
    },
  }
}

/** Failures that are the same the next time. */
const lasting: Readonly<Record<string, string>> = {
  ENOTFOUND: 'the host name cannot be resolved',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'the certificate is self-signed',
  SELF_SIGNED_CERT_IN_CHAIN: 'the CA of the certificate is not trusted: name it in NODE_EXTRA_CA_CERTS',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'the CA of the certificate is not trusted: name it in NODE_EXTRA_CA_CERTS',
  CERT_HAS_EXPIRED: 'the certificate has expired',
  ERR_TLS_CERT_ALTNAME_INVALID: 'the certificate is for another host',
  ERR_SSL_WRONG_VERSION_NUMBER: 'it does not speak TLS: use --insecure-registry for a registry without TLS',
  EPROTO: 'it does not speak TLS: use --insecure-registry for a registry without TLS',
}

const passing: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'the connection was cut',
  EPIPE: 'the connection was cut',
  ERR_STREAM_PREMATURE_CLOSE: 'the connection was cut',
}

function explain(url: URL, cause: unknown): Error {
  if (cause instanceof ProjectError || cause instanceof TransientFailure) return cause
  const { code = '', message } = cause as NodeJS.ErrnoException
  const known = Object.hasOwn(lasting, code) ? lasting[code] : undefined
  if (known !== undefined) return new ProjectError('RegistryFailed', `${url.host}: ${known}`, { cause })
  const text = Object.hasOwn(passing, code)
    ? passing[code]
    : message === 'aborted'
      ? 'the connection was cut'
      : message
  return new TransientFailure(`${url.host}: ${text}`, { cause })
}

/** Reads a body of at most `limit` bytes. */
export async function readBody(response: HttpResponse, limit: number, what: string): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of response.body) {
    length += chunk.length
    if (length > limit) throw new ProjectError('RegistryFailed', `${what} has more than ${limit} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}
