import type { MessagePort } from 'node:worker_threads'
import type { LogLevel, LogRecord } from '@coxswain/kit'
import type { LeaderElectionOptions } from '@coxswain/runtime'
import type { SimulatedNodesOptions } from '../nodes/nodes.ts'
import type { SchedulerFlags } from '../options/scheduler-options.ts'
import type { ManagerOptions } from './control-loops.ts'

/** Options that can be copied to another thread. */
export interface LoopsOptions extends Omit<ManagerOptions, 'env' | 'signToken'> {
  readonly logLevel: LogLevel
  /** Controllers and scheduler run while they hold their leases. @default they always run */
  readonly leaderElection?: LeaderElectionOptions
  /** Other servers share the store, and one of them may lead. */
  readonly isShared: boolean
  /** The flags of the scheduler, already validated. */
  readonly scheduler: SchedulerFlags
  /** The file with the key that signs service accounts' tokens (PEM). */
  readonly signingKeyFile: string
  /** @default none */
  readonly simulatedNodes?: SimulatedNodesOptions
}

/** A message of the control loops' thread. */
export type LoopsMessage =
  /** A client of theirs connects to the server. */
  | { readonly connect: MessagePort }
  | { readonly log: LogRecord }
  /** All of them run, and Pods can be created; simulated nodes are reachable through the port. */
  | { readonly started: true; readonly nodes?: MessagePort }

/** A message to the thread. */
export type LoopsCommand = { readonly start: LoopsOptions } | 'stop'
