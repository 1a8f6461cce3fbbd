import { newUnsupportedMediaType } from '@coxswain/apimachinery'
import type { WireResponse } from '@coxswain/wire'
import type { Endpoint } from '../registry/registry.ts'
import type { ResourceContext } from '../request/context.ts'

/** Server-side apply. */
export async function handleApply(_context: ResourceContext, _endpoint: Endpoint): Promise<WireResponse> {
  throw newUnsupportedMediaType(['application/json-patch+json', 'application/merge-patch+json'])
}
