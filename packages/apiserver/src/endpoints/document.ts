import { newMethodNotSupported } from '@coxswain/apimachinery/status'
import { encodeText } from '@coxswain/kit'
import type { MetricsRegistry } from '@coxswain/kit/metrics'
import type { WireResponse } from '@coxswain/wire'
import type { Documents } from '../discovery/documents.ts'
import { versionInfo } from '../discovery/version.ts'
import { findDebugPage } from '../flow-control/debug-pages.ts'
import type { FlowControl } from '../flow-control/flow-control.ts'
import type { RequestContext } from '../request/context.ts'
import { indentedResponse, notFoundPage, textResponse, unknownResource } from '../request/response.ts'
import { type HealthCheck, serveHealth } from './health.ts'
import { type IssuerPorts, serveIssuer } from './issuer.ts'

/** What the non-resource endpoints need of the server. */
export interface DocumentPorts {
  readonly healthChecks: readonly HealthCheck[]
  readonly documents: Documents
  readonly metrics: MetricsRegistry
  /** For debug pages; undefined without priority and fairness. */
  readonly flow: FlowControl | undefined
  readonly issuer: IssuerPorts
}

/** Non-resource paths: health, version, metrics, discovery, OpenAPI. */
export async function serveDocument(ports: DocumentPorts, context: RequestContext): Promise<WireResponse> {
  const { documents, flow, metrics } = ports
  const { path, request } = context
  const health = serveHealth(context, ports.healthChecks)
  if (health) return health
  if (request.method !== 'GET') throw newMethodNotSupported({ group: '', resource: '' }, request.method)
  const [first, ...rest] = path.segments
  switch (first) {
    case 'version':
      if (rest.length > 0) throw unknownResource()
      return indentedResponse(200, versionInfo)
    case 'api':
    case 'apis':
      return documents.discovery(context)
    case 'metrics':
      return rest.length === 0 ? metricsResponse(metrics.text()) : notFoundPage
    case 'debug': {
      const page = flow && findDebugPage(flow, `/${path.segments.join('/')}`)
      return page === undefined ? notFoundPage : textResponse(200, page)
    }
    case 'openapi':
      return documents.openapi(context)
    case '.well-known':
    case 'openid':
      return (await serveIssuer(ports.issuer, context)) ?? notFoundPage
    case undefined:
      return indentedResponse(200, { paths: documents.paths() })
    default:
      return notFoundPage
  }
}

/** The Prometheus text format 0.0.4. */
function metricsResponse(text: string): WireResponse {
  const headers = { 'content-type': 'text/plain; version=0.0.4; charset=utf-8; escaping=underscores' }
  return { status: 200, headers, body: encodeText(text) }
}
