import type { MessagePort } from 'node:worker_threads'
import type { LogLevel, LogRecord } from '@coxswain/kit'
import type { LeaderElectionOptions } from '@coxswain/runtime'
import type { SimulatedNodesOptions } from '../nodes/nodes.ts'
import type { SchedulerFlags } from '../options/scheduler-options.ts'
import type { ManagerOptions } from './control-loops.ts'

/** All of it can be copied to another thread. */
export interface LoopsOptions extends Omit<ManagerOptions, 'env' | 'signToken'> {
  readonly logLevel: LogLevel
  /** Controllers and scheduler run while they hold their leases. @default they always run */
  readonly leaderElection?: LeaderElectionOptions
  /** Other servers have the store too, and one of them may lead. */
  readonly isShared: boolean
  /** What the flags say of the scheduler, which has been looked at already. */
  readonly scheduler: SchedulerFlags
  /** The file with the key that signs service accounts' tokens (PEM). */
  readonly signingKeyFile: string
  /** @default none */
  readonly simulatedNodes?: SimulatedNodesOptions
}

/** What the thread of the control loops says. */
export type LoopsMessage =
  /** A client of theirs wants to speak to the server. */
  | { readonly connect: MessagePort }
  | { readonly log: LogRecord }
  /** All of them work, and what every Pod needs is there; simulated nodes can be asked at the port. */
  | { readonly started: true; readonly nodes?: MessagePort }

/** What the thread is told. */
export type LoopsCommand = { readonly start: LoopsOptions } | 'stop'
