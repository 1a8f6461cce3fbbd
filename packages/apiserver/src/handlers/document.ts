import { newMethodNotSupported } from '@coxswain/apimachinery'
import type { WireResponse } from '@coxswain/wire'
import { serveHealth } from '../health.ts'
import type { RequestContext } from '../request/context.ts'
import { jsonResponse, notFoundPage, unknownResource } from '../response.ts'
import { versionInfo } from '../version.ts'

/** Everything that is not about a resource: health, version, discovery, OpenAPI. */
export async function serveDocument(context: RequestContext): Promise<WireResponse> {
  const { state, path, request } = context
  const health = serveHealth(context, state.healthChecks)
  if (health) return health
  if (request.method !== 'GET') throw newMethodNotSupported({ group: '', resource: '' }, request.method)
  const [first, ...rest] = path.segments
  switch (first) {
    case 'version':
      if (rest.length > 0) throw unknownResource()
      return jsonResponse(200, versionInfo)
    case 'api':
    case 'apis':
      return state.documents.discovery(context)
    case 'openapi':
      return state.documents.openapi(context)
    case undefined:
      return jsonResponse(200, { paths: state.documents.paths() })
    default:
      return notFoundPage
  }
}
