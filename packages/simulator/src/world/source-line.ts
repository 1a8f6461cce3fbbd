/** The root of this installation of the framework: frames from below it are not the author's. */
const own = new URL('../../../', import.meta.url).href

function isOwn(file: string): boolean {
  if (/node_modules|node:internal/.test(file)) return true
  return file.startsWith(own) && !/\.test\.|\/test-support\//.test(file)
}

/** Where the author's code is in the present call, as `FILE:LINE`; undefined where the stack does not reach it. */
export function findSourceLine(): string | undefined {
  const { stackTraceLimit } = Error
  Error.stackTraceLimit = 40
  const { stack = '' } = new Error()
  Error.stackTraceLimit = stackTraceLimit
  for (const line of stack.split('\n')) {
    const [, file, number] = /(?:^|[ (])((?:file:\/\/)?\/[^()]*?):(\d+):\d+\)?$/.exec(line) ?? []
    if (file === undefined || isOwn(file)) continue
    return `${file.replace(/^file:\/\//, '').replace(/^.*\/(?=[^/]+\/[^/]+$)/, '')}:${number}`
  }
  return undefined
}
