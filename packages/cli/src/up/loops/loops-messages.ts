import type { MessagePort } from 'node:worker_threads'
import type { Client } from '@coxswain/client'
import type { ControllerManagerOptions, ServesResource } from '@coxswain/controllers'
import type { Env, LogLevel, LogRecord, TaskGroup } from '@coxswain/kit'
import type { LeaderElectionOptions, Operator } from '@coxswain/runtime'
import type { KeyPair } from '@coxswain/wire/node'
import type { SimulatedNodesOptions } from '../nodes/nodes.ts'
import type { SchedulerFlags } from '../options/scheduler-options.ts'

/** What the controllers need. */
export interface ManagerOptions
  extends Pick<ControllerManagerOptions, 'controllers' | 'nodeRanges' | 'rootCa' | 'signToken' | 'serves'> {
  readonly env: Env
  /** The cloud that owns machines, routes and load balancers. @default none */
  readonly cloudProvider?: 'local' | 'none'
  /** The folder for what the local-path provisioner makes. */
  readonly volumes: string
  /** Signs client certificates. */
  readonly ca: KeyPair
}

/** Options that can be copied to another thread. */
export interface LoopsOptions extends Omit<ManagerOptions, 'env' | 'signToken' | 'serves'> {
  /** The served built-in resources, by name with group. @default all */
  readonly resources?: readonly string[]
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

/** What creates the operators of the thread. There are two such modules, of which one is loaded. */
export interface LoopsModule {
  readonly createLoops: (
    options: LoopsOptions & Pick<ManagerOptions, 'signToken'> & { readonly serves: ServesResource },
    surroundings: { readonly env: Env; readonly client: Client; readonly group: TaskGroup },
  ) => Promise<readonly Operator[]>
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
