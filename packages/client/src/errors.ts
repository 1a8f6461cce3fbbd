import { brandErrors, CodedError, type IsError } from '@coxswain/kit'

/** The codes of {@link ClientError}. */
export type ClientErrorCode =
  /** A name or namespace that is missing or not valid in a path. */
  | 'BadKey'
  /** Options that conflict with each other or the kind. */
  | 'BadOptions'
  /** An answer of a form that no API server sends: not JSON, a watch line too long. */
  | 'BadAnswer'
  /** `waitFor`, `wait.poll` or `drain` did not see its condition in time. */
  | 'WaitTimeout'
  /** The call took longer than its `timeout`. */
  | 'CallTimeout'
  /** A kubeconfig that cannot be read, or refers to something that does not exist. */
  | 'BadKubeconfig'
  /** A credential plug-in or token endpoint that returns no credentials. */
  | 'NoCredentials'
  /** A write through a client that only reads. */
  | 'ReadOnly'
  /** Pods of a node that `drain` may not evict with its options. */
  | 'CannotDrain'
  /** A WebSocket over a transport without upgrades. */
  | 'NoUpgrade'

/** An error of this package that is not a server's answer. Callers decide by `code`. */
export class ClientError extends CodedError<ClientErrorCode> {
  override readonly name: string = 'ClientError'
}

/** True also for an error made by another copy of this package. With `code`, only for that code. */
export const isClientError: IsError<ClientError> = brandErrors(ClientError, 'coxswain.client.ClientError')
