import { request } from 'node:https'
import { createServer } from 'node:net'

export interface Question {
  /** PEM. Without it the server's certificate is not looked at. */
  readonly ca?: string
  readonly cert?: string
  readonly key?: string
  readonly token?: string
  /** Sent as JSON with POST. */
  readonly body?: object
}

export interface Answer {
  readonly status: number
  readonly text: string
}

/** One request with the identity of the certificate or the token. */
export function ask(url: string, { ca, cert, key, token, body }: Question = {}): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const headers = {
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...(body && { 'content-type': 'application/json' }),
    }
    const asked = request(
      url,
      {
        method: body ? 'POST' : 'GET',
        headers,
        agent: false,
        ...(ca === undefined ? { rejectUnauthorized: false } : { ca }),
        ...(cert !== undefined && { cert }),
        ...(key !== undefined && { key }),
      },
      response => {
        let text = ''
        response.setEncoding('utf8').on('data', (chunk: string) => {
          text += chunk
        })
        response.on('end', () => resolve({ status: response.statusCode ?? 0, text }))
      },
    )
    asked.on('error', reject)
    asked.end(body && JSON.stringify(body))
  })
}

export function freePort(): Promise<number> {
  return new Promise(resolve => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number }
      server.close(() => resolve(port))
    })
  })
}
