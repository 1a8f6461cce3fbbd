import { newMethodNotSupported } from '@coxswain/apimachinery/status'
import { encodeText } from '@coxswain/kit'
import type { WireResponse } from '@coxswain/wire'
import { versionInfo } from '../discovery/version.ts'
import { findDebugPage } from '../flow-control/debug-pages.ts'
import type { RequestContext } from '../request/context.ts'
import { indentedResponse, notFoundPage, textResponse, unknownResource } from '../request/response.ts'
import { serveHealth } from './health.ts'
import { serveIssuer } from './issuer.ts'

/** Everything that is not about a resource: health, version, metrics, discovery, OpenAPI. */
export async function serveDocument(context: RequestContext): Promise<WireResponse> {
  const { state, path, request } = context
  const health = serveHealth(context, state.healthChecks)
  if (health) return health
  if (request.method !== 'GET') throw newMethodNotSupported({ group: '', resource: '' }, request.method)
  const [first, ...rest] = path.segments
  switch (first) {
    case 'version':
      if (rest.length > 0) throw unknownResource()
      return indentedResponse(200, versionInfo)
    case 'api':
    case 'apis':
      return state.documents.discovery(context)
    case 'metrics':
      return rest.length === 0 ? metricsResponse(state.metrics.text()) : notFoundPage
    case 'debug': {
      const page = state.flow && findDebugPage(state.flow, `/${path.segments.join('/')}`)
      return page === undefined ? notFoundPage : textResponse(200, page)
    }
    case 'openapi':
      return state.documents.openapi(context)
    case '.well-known':
    case 'openid':
      return (await serveIssuer(context)) ?? notFoundPage
    case undefined:
      return indentedResponse(200, { paths: state.documents.paths() })
    default:
      return notFoundPage
  }
}

/** The text format of Prometheus, 0.0.4. */
function metricsResponse(text: string): WireResponse {
  const headers = { 'content-type': 'text/plain; version=0.0.4; charset=utf-8; escaping=underscores' }
  return { status: 200, headers, body: encodeText(text) }
}
