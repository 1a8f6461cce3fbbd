/** What goes wrong on the client's side before a request or after an answer. */
export type ClientErrorCode =
  /** A name or namespace that cannot stand in a path, or one that is missing. */
  | 'BadKey'
  /** Options that contradict each other or the kind. */
  | 'BadOptions'
  /** An answer of a form that no API server sends: not JSON, a watch line too long. */
  | 'BadAnswer'
  /** `waitFor` did not see its condition in time. */
  | 'WaitTimeout'
  /** The call took longer than its `timeout`. */
  | 'CallTimeout'
  /** A kubeconfig that cannot be read, or names something that is not there. */
  | 'BadKubeconfig'
  /** A credential plug-in or token endpoint that gives no credentials. */
  | 'NoCredentials'
  /** A stream in both directions over a transport that has none. */
  | 'NoUpgrade'

const brand = Symbol.for('coxswain.client.ClientError')

export class ClientError extends Error {
  readonly code: ClientErrorCode

  constructor(code: ClientErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'ClientError'
    this.code = code
  }
}

Object.defineProperty(ClientError.prototype, brand, { value: true })

/** True also for an error made by another copy of this package. With `code`, only for that code. */
export function isClientError(error: unknown, code?: ClientErrorCode): error is ClientError {
  if (typeof error !== 'object' || error === null || !(brand in error)) return false
  return code === undefined || (error as unknown as ClientError).code === code
}
