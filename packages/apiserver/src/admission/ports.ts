import type { Env } from '@coxswain/kit'
import type { Store } from '@coxswain/storage'
import type { Authorizer } from '../authorization/authorizer.ts'
import type { WatchCache } from '../cache/watch-cache.ts'
import type { WebhookClient } from '../outbound/webhook-client.ts'
import type { Registry } from '../registry/registry.ts'

/** What admission plug-ins may use of the server. */
export interface AdmissionPorts {
  readonly env: Env
  readonly store: Store
  readonly cache: WatchCache
  readonly registry: Registry
  readonly authorizer: Authorizer
  /** Calls webhooks by their `clientConfig`. */
  readonly webhooks: WebhookClient
}
