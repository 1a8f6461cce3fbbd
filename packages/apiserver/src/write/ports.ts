import type { Env } from '@coxswain/kit'
import type { Store } from '@coxswain/storage'
import type { GrantReader, StrategyContext } from '@coxswain/strategies'
import type { Admission } from '../admission/admission.ts'
import type { Authorizer } from '../authorization/authorizer.ts'
import type { WatchCache } from '../cache/watch-cache.ts'
import type { Reader } from '../read/read.ts'
import type { FieldManagers } from './managed-fields.ts'

/** What is needed to change the store so that later reads see it. */
export interface StorePorts {
  readonly store: Store
  readonly cache: WatchCache
}

/** What writes need of the server. */
export interface WritePorts extends StorePorts {
  readonly env: Env
  /** Encodes the response for the client. */
  readonly reader: Reader
  readonly admission: Admission
  readonly authorizer: Authorizer
  readonly fieldManagers: FieldManagers
  /** What RBAC grants, for checks against privilege escalation. */
  readonly grants: GrantReader
  /** CIDRs of service addresses, one per IP family, the default family first. */
  readonly serviceRanges: readonly string[]
  /** Verifies the signatures of certificate requests. @default all are rejected */
  readonly verifySignature: StrategyContext['verifySignature']
}
