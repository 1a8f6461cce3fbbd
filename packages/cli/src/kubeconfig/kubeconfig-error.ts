import { CommandError, explainSystemError } from '../exit.ts'

const remedy =
  'start a server with coxswain up and export the KUBECONFIG that it prints, or name a file with --kubeconfig'

/** Why a kubeconfig cannot be used, and what to do. `file` is the value of the option. */
export function explainKubeconfigError(error: unknown, file: string | undefined): CommandError {
  const { message, cause } = error as Error
  const isSystemError = cause instanceof Error && 'code' in cause && 'syscall' in cause
  if (isSystemError && file !== undefined)
    return new CommandError(`--kubeconfig ${file}: ${explainSystemError(cause)}`, { cause: error })
  const isNone = /^there is no kubeconfig file|has no current-context$/.test(message)
  return new CommandError(isNone && file === undefined ? `${message}; ${remedy}` : message, { cause: error })
}
