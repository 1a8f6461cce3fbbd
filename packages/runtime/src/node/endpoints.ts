import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { formatHealth, type HealthReport } from '../health.ts'
import type { Manager } from '../manager.ts'

export interface EndpointOptions {
  /** @default '127.0.0.1' */
  readonly host?: string
  /** 0 picks a free one. */
  readonly port: number
}

export interface Endpoints extends AsyncDisposable {
  readonly url: string
}

/** What the endpoints show. */
export type EndpointSource = Pick<Manager, 'metrics' | 'checkHealth' | 'checkReady'>

/** Serves `/metrics`, `/healthz` and `/readyz` (and `/healthz/NAME` for one check) over plain HTTP. */
export async function serveEndpoints(source: EndpointSource, options: EndpointOptions): Promise<Endpoints> {
  const { host = '127.0.0.1', port } = options
  const server = createServer((request, response) => {
    answer(source, request, response).catch(error => response.destroy(error as Error))
  })
  server.keepAliveTimeout = 90_000
  server.headersTimeout = 32_000
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, () => resolve())
  })
  const address = server.address() as AddressInfo
  const shown = address.family === 'IPv6' ? `[${address.address}]` : address.address
  return {
    url: `http://${shown}:${address.port}`,
    [Symbol.asyncDispose]: () =>
      new Promise<void>(resolve => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

async function answer(
  source: EndpointSource,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const url = new URL(request.url ?? '/', 'http://localhost')
  const [, endpoint, check] = url.pathname.split('/')
  if (request.method !== 'GET' && request.method !== 'HEAD') return send(response, 405, 'method not allowed')
  if (endpoint === 'metrics') {
    response.setHeader('content-type', 'text/plain; version=0.0.4; charset=utf-8')
    return send(response, 200, source.metrics.text())
  }
  if (endpoint !== 'healthz' && endpoint !== 'readyz') return send(response, 404, 'not found')
  const report = await (endpoint === 'healthz' ? source.checkHealth() : source.checkReady())
  const shown = check ? only(report, check) : report
  if (!shown) return send(response, 404, 'not found')
  return send(response, shown.ok ? 200 : 500, formatHealth(endpoint, shown, url.searchParams.has('verbose')))
}

function only(report: HealthReport, name: string): HealthReport | undefined {
  const check = report.checks.find(candidate => candidate.name === name)
  return check && { ok: check.ok, checks: [check] }
}

function send(response: ServerResponse, status: number, body: string): void {
  if (!response.hasHeader('content-type')) response.setHeader('content-type', 'text/plain; charset=utf-8')
  response.statusCode = status
  response.end(body)
}
