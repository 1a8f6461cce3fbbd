import { dirname } from 'node:path'

/** Ends the command with one line on standard error. */
export class CommandError extends Error {
  override readonly name = 'CommandError'
  /** 1: failure; 2: bad usage. */
  readonly exitCode: 1 | 2

  constructor(message: string, options: { readonly exitCode?: 1 | 2; readonly cause?: unknown } = {}) {
    super(message, { cause: options.cause })
    this.exitCode = options.exitCode ?? 1
  }
}

/** The code of a CommanderError that ends with exit code 1: for commands whose exit code 2 has another meaning. */
export const failureCode = 'coxswain.failure'

const systemErrors: Readonly<Record<string, string>> = {
  EADDRINUSE: 'is in use',
  EADDRNOTAVAIL: 'is not an address of this machine',
  EACCES: 'permission denied',
  EROFS: 'is on a read-only file system',
  ENOSPC: 'no space left on the device',
  ENOTDIR: 'is not a directory',
  EISDIR: 'is a directory',
  EPERM: 'operation not permitted',
  ENOENT: 'does not exist',
  ELOOP: 'is a loop of symbolic links',
  ENAMETOOLONG: 'the name is too long',
  EMFILE: 'too many open files',
  EIO: 'the device failed',
  EXDEV: 'is on another file system',
  ECONNREFUSED: 'connection refused',
  EHOSTUNREACH: 'the host is unreachable',
  ENOTFOUND: 'the host name cannot be resolved',
}

/** The original error, when a resource could not be closed either. */
export function unwrapSuppressed(error: unknown): unknown {
  let first = error
  while (first instanceof SuppressedError) first = first.suppressed
  return first
}

/** A short description of a system error. */
export function explainSystemError(error: unknown): string {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    const { code, syscall, path } = cause as { code?: string; syscall?: string; path?: string }
    if (code === 'ENOENT' && syscall === 'mkdir' && path !== undefined)
      return `cannot create a directory in ${dirname(path)}`
    const known = code === undefined ? undefined : systemErrors[code]
    if (known !== undefined) return known
  }
  return error instanceof Error ? error.message : String(error)
}
