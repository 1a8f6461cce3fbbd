/** A place in the author's source. */
export interface SourceLine {
  /** Absolute. */
  readonly file: string
  readonly line: number
}

/** The packages of this framework: frames from below are not the author's. */
const own = new URL('../../../', import.meta.url).href

function isOwn(file: string): boolean {
  if (/node_modules|node:internal/.test(file)) return true
  return file.startsWith(own) && !/\.test\.|\/test-support\//.test(file)
}

/** The present stack, long enough to reach the author's code; it is formatted only when it is read. */
export function captureStack(): Error {
  const { stackTraceLimit } = Error
  Error.stackTraceLimit = 60
  const error = new Error()
  Error.stackTraceLimit = stackTraceLimit
  return error
}

/** Where the author's code is in a stack; undefined where the stack does not reach it. */
export function authorLine({ stack = '' }: Error): SourceLine | undefined {
  for (const text of stack.split('\n')) {
    const [, file, line] = /\(?((?:file:\/\/)?(?:\/|[A-Za-z]:[\\/])[^()]*?):(\d+):\d+\)?$/.exec(text) ?? []
    if (file === undefined || isOwn(file)) continue
    return {
      file: file.startsWith('file://') ? decodeURIComponent(new URL(file).pathname) : file,
      line: Number(line),
    }
  }
  return undefined
}
