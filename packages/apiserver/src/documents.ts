import type { WireResponse } from '@coxswain/wire'
import type { Registry } from './registry/registry.ts'
import type { RequestContext } from './request/context.ts'
import { notFoundPage } from './response.ts'

/** Discovery and OpenAPI, built from the registry when somebody asks and kept until it changes. */
export class Documents {
  readonly #registry: Registry

  constructor(registry: Registry) {
    this.#registry = registry
  }

  paths(): readonly string[] {
    return [String(this.#registry.generation)]
  }

  discovery(_context: RequestContext): WireResponse {
    return notFoundPage
  }

  openapi(_context: RequestContext): WireResponse {
    return notFoundPage
  }
}
