import type { Endpoint } from '../registry/registry.ts'
import type { ResourceContext } from '../request/context.ts'
import type { Answer } from '../request/filter.ts'

export type EndpointHandler = (context: ResourceContext, endpoint: Endpoint) => Answer
