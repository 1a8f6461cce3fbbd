/** Ends the command with one line on standard error. */
export class CommandError extends Error {
  override readonly name = 'CommandError'
  /** 1: it could not be done; 2: it was asked for in the wrong way. */
  readonly exitCode: 1 | 2

  constructor(message: string, options: { readonly exitCode?: 1 | 2; readonly cause?: unknown } = {}) {
    super(message, { cause: options.cause })
    this.exitCode = options.exitCode ?? 1
  }
}

const systemErrors: Readonly<Record<string, string>> = {
  EADDRINUSE: 'is in use',
  EACCES: 'permission denied',
  EROFS: 'is on a read-only file system',
  ENOSPC: 'no space left on the device',
  ENOTDIR: 'is not a directory',
  EISDIR: 'is a directory',
  EPERM: 'operation not permitted',
  ENOENT: 'does not exist',
}

/** What a system error means, in a few words. */
export function explainSystemError(error: unknown): string {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    const { code } = cause as { code?: string }
    const known = code === undefined ? undefined : systemErrors[code]
    if (known !== undefined) return known
  }
  return error instanceof Error ? error.message : String(error)
}
