/** One violation, as every check reports it. */
export interface Finding {
  /** Relative to the root of the repository. */
  readonly file: string
  readonly line?: number
  readonly message: string
  /** A warning is printed and fails nothing. @default 'error' */
  readonly level?: 'error' | 'warning'
}

/** A rule of the repository. */
export interface Check {
  readonly name: string
  /** Looks at the repository in the folder `root`. */
  run(root: string): Promise<readonly Finding[]>
}

export function formatFinding({ file, line, message }: Finding): string {
  return `${file}${line === undefined ? '' : `:${line}`} ${message}`
}
