import { createLogger, type Logger, type LogRecord } from '@coxswain/kit'

/** How many different records are remembered, so that each is printed once. */
const memory = 1_000

/** Prints warnings and errors on standard error, each once, and errors with their stack: for people who read a failed test. */
export function createPrintingLogger(print: (text: string) => void = text => console.error(text)): Logger {
  const printed = new Set<string>()
  return createLogger(record => {
    if (record.level !== 'warn' && record.level !== 'error') return
    const text = describe(record)
    if (printed.has(text)) return
    if (printed.size < memory) printed.add(text)
    print(text)
  })
}

function describe({ level, message, fields }: LogRecord): string {
  const { operator, controller, key, error, reason } = fields
  const who = [operator, controller, key].filter(part => typeof part === 'string').join(' ')
  const why = error instanceof Error ? stackOf(error) : (error ?? reason)
  return `${level}: ${who}: ${message}${why === undefined ? '' : `: ${why}`}`
}

/** Without the frames of Node itself, which depend on how the process came to the call. */
function stackOf({ stack, message }: Error): string {
  const lines = (stack ?? message).split('\n')
  return lines.filter(line => !/^ +at .*\(?node:/.test(line)).join('\n')
}
