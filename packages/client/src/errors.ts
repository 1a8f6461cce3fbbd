import { brandErrors, CodedError, type IsError } from '@coxswain/kit'

/** What goes wrong on the client's side before a request or after an answer. */
export type ClientErrorCode =
  /** A name or namespace that cannot stand in a path, or one that is missing. */
  | 'BadKey'
  /** Options that contradict each other or the kind. */
  | 'BadOptions'
  /** An answer of a form that no API server sends: not JSON, a watch line too long. */
  | 'BadAnswer'
  /** `waitFor`, `wait.poll` or `drain` did not see its condition in time. */
  | 'WaitTimeout'
  /** The call took longer than its `timeout`. */
  | 'CallTimeout'
  /** A kubeconfig that cannot be read, or names something that is not there. */
  | 'BadKubeconfig'
  /** A credential plug-in or token endpoint that gives no credentials. */
  | 'NoCredentials'
  /** A write through a client that only reads. */
  | 'ReadOnly'
  /** Pods of a node that `drain` may not evict with the options it has. */
  | 'CannotDrain'
  /** A stream in both directions over a transport that has none. */
  | 'NoUpgrade'

export class ClientError extends CodedError<ClientErrorCode> {
  override readonly name: string = 'ClientError'
}

/** True also for an error made by another copy of this package. With `code`, only for that code. */
export const isClientError: IsError<ClientError> = brandErrors(ClientError, 'coxswain.client.ClientError')
