import { createServer } from 'node:http'
import type { HealthAnswer, OpenSocket, ServiceSockets } from '../kube-proxy/service-sockets.ts'

type Place = Parameters<NonNullable<ServiceSockets['serveHealth']>>[0]

/** The timeout of a request in milliseconds. */
const askTimeout = 5_000
const maxConnections = 100

/** Rejects when the port cannot be opened. */
export function openHealth({ host, port }: Place, answer: () => HealthAnswer): Promise<OpenSocket> {
  const server = createServer((request, response) => {
    const { status, headers, body } = answer()
    request.resume()
    response.writeHead(status, { ...headers, connection: 'close' }).end(body)
  })
  server.maxConnections = maxConnections
  server.requestTimeout = askTimeout
  server.headersTimeout = askTimeout
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen({ host, port, exclusive: true }, () => {
      server.removeListener('error', reject)
      server.on('error', () => {}) // such as too many open files: the next connection may be accepted again
      resolve({
        close: async () => {
          server.closeAllConnections()
          await new Promise<void>(closed => server.close(() => closed()))
        },
      })
    })
  })
}
