import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { createRealEnv, type LogLevel } from '@coxswain/kit'
import { createPinoLogger, createTurnTakingScheduler } from '@coxswain/kit/node'
import { CommandError, explainSystemError } from '../exit.ts'
import type { AdmissionFlags } from './access/admission-options.ts'
import type { AuditFlags } from './access/audit-options.ts'
import type { AuthenticationFlags } from './access/authentication-options.ts'
import { type AuthorizationFlags, checkAuthorizationFlags } from './access/authorization-options.ts'
import type { EncryptionFlags } from './access/encryption.ts'
import { selectControllers } from './loops/controller-names.ts'
import type { ControllerFlags } from './loops/controller-options.ts'
import { prepareLoopsThread } from './loops/prepare-thread.ts'
import type { SchedulerFlags } from './loops/scheduler-options.ts'
import { createComponentLogs } from './nodes/component-logs.ts'
import type { KubeletFlags } from './nodes/kubelet-options.ts'
import type { ServiceProxyFlags } from './nodes/service-proxy-options.ts'
import { loadStore, type StoreOptions } from './store.ts'

export interface UpOptions
  extends StoreOptions,
    AdmissionFlags,
    AuditFlags,
    EncryptionFlags,
    AuthenticationFlags,
    AuthorizationFlags,
    ControllerFlags,
    KubeletFlags,
    SchedulerFlags,
    ServiceProxyFlags {
  readonly port: number
  readonly dataDir: string
  readonly kubeconfig?: string
  readonly controllers: readonly string[]
  readonly nodes: number
  readonly runtime: 'simulated' | 'process'
  readonly missingImages?: readonly string[]
  readonly operator?: readonly string[]
  readonly serviceClusterIpRange: string
  readonly maxRequestsInflight: number
  readonly maxMutatingRequestsInflight: number
  readonly enablePriorityAndFairness: 'true' | 'false'
  readonly logLevel: LogLevel
}

/** Starts everything and resolves when it has stopped again. */
export async function runUp(options: UpOptions): Promise<void> {
  const { logLevel } = options
  const logs = createComponentLogs(createPinoLogger({ level: logLevel }), logLevel, createRealEnv().clock)
  const env = { ...createRealEnv(logs.log), scheduler: createTurnTakingScheduler() }
  const controllers = selectControllers(options.controllers)
  checkAuthorizationFlags(options)
  const dataDir = resolve(options.dataDir)
  prepareDirectory(dataDir)
  // The store's threads start while the server's code is being loaded.
  const opening = (await loadStore(options, dataDir, { ...env, log: env.log.child({ component: 'etcd' }) }))()
  opening.catch(() => {}) // whoever awaits it is told
  // Its code is loaded while the server's is.
  const worker =
    controllers.length > 0
      ? prepareLoopsThread({ hasSimulatedNodes: options.nodes > 0 && options.runtime === 'simulated' })
      : undefined
  try {
    const { runControlPlane } = await import('./control-plane.ts')
    await runControlPlane({ options, dataDir, env, logs, controllers, worker, opening })
  } catch (error) {
    // Threads keep the process alive, whatever it was that failed.
    await worker?.terminate()
    await opening.then(
      store => store.close(),
      () => {},
    )
    throw error
  }
}

/** Makes the directory, and sees that it can be written to. */
function prepareDirectory(dataDir: string): void {
  try {
    mkdirSync(dataDir, { recursive: true })
    const probe = join(dataDir, '.writable')
    writeFileSync(probe, '')
    rmSync(probe)
  } catch (error) {
    throw new CommandError(`the data directory ${dataDir} cannot be used: ${explainSystemError(error)}`, {
      cause: error,
    })
  }
}
