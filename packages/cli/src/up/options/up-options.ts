import type { LogLevel } from '@coxswain/kit'
import type { AdmissionFlags } from './admission-options.ts'
import type { AuditFlags } from './audit-options.ts'
import type { AuthenticationFlags } from './authentication-options.ts'
import type { AuthorizationFlags } from './authorization-options.ts'
import type { ControllerFlags } from './controller-options.ts'
import type { EncryptionFlags } from './encryption-options.ts'
import type { KubeletFlags } from './kubelet-options.ts'
import type { OperatorFlags } from './operator-options.ts'
import type { SchedulerFlags } from './scheduler-options.ts'
import type { ServiceProxyFlags } from './service-proxy-options.ts'
import type { ServingFlags } from './serving-options.ts'
import type { StoreOptions } from './store-options.ts'

/** The options that were given on the command line: property to flag. */
export type GivenOptions = ReadonlyMap<string, string>

/** The flags of `coxswain up`. */
export interface UpOptions
  extends StoreOptions,
    AdmissionFlags,
    AuditFlags,
    EncryptionFlags,
    AuthenticationFlags,
    AuthorizationFlags,
    ControllerFlags,
    KubeletFlags,
    OperatorFlags,
    SchedulerFlags,
    ServiceProxyFlags,
    ServingFlags {
  readonly dataDir: string
  readonly kubeconfig?: string
  readonly kinds: readonly string[]
  readonly controllers: readonly string[]
  readonly nodes: number
  readonly runtime: 'simulated' | 'process'
  readonly missingImages?: readonly string[]
  readonly operator?: readonly string[]
  readonly serviceClusterIpRange: string
  readonly eventTtl: string
  readonly maxRequestsInflight: number
  readonly maxMutatingRequestsInflight: number
  readonly enablePriorityAndFairness: 'true' | 'false'
  readonly logLevel: LogLevel
}
