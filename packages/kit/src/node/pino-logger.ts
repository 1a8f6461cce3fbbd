import { createRequire } from 'node:module'
import type { DestinationStream, Logger as Pino, pino as PinoFactory } from 'pino'
import type { LogFields, Logger, LogLevel } from '../logger.ts'

export interface PinoLoggerOptions {
  /** @default 'info' */
  readonly level?: LogLevel
  /** Where records go, one JSON line each. @default standard error */
  readonly destination?: DestinationStream
}

const levels: readonly LogLevel[] = ['debug', 'info', 'warn', 'error']

/**
 * JSON lines for machines. Errors under the field `error` carry their stack and cause. Pino is loaded when the first
 * record is written: most programs start without a word.
 */
export function createPinoLogger(options: PinoLoggerOptions = {}): Logger {
  let target: Pino | undefined
  return wrap(options.level ?? 'info', () => {
    target ??= load(options)
    return target
  })
}

function load({ level = 'info', destination }: PinoLoggerOptions): Pino {
  const { pino } = createRequire(import.meta.url)('pino') as { pino: typeof PinoFactory }
  const settings = {
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
    serializers: { error: (error: Error) => pino.stdSerializers.err(withoutStatus(error)) },
  }
  return pino(settings, destination ?? pino.destination({ dest: 2, sync: true }))
}

/**
 * An error that carries a Kubernetes Status, without it: its message is the error's, and pino would take it for one more
 * error. Code and reason stay.
 */
function withoutStatus<E>(error: E): E {
  if (!(error instanceof Error) || !('status' in error)) return error
  const { status } = error as { status: { kind?: unknown; code?: unknown; reason?: unknown } | undefined }
  if (status?.kind !== 'Status') return error
  const { code, reason } = status
  return Object.create(error, {
    status: { value: undefined, enumerable: false },
    code: { value: code, enumerable: true },
    reason: { value: reason, enumerable: true },
  })
}

function wrap(threshold: LogLevel, target: () => Pino): Logger {
  const write = (level: LogLevel) =>
    levels.indexOf(level) < levels.indexOf(threshold)
      ? () => {}
      : (message: string, fields?: LogFields) => target()[level](fields ?? {}, message)
  return {
    debug: write('debug'),
    info: write('info'),
    warn: write('warn'),
    error: write('error'),
    child: (fields: LogFields) => {
      let child: Pino | undefined
      return wrap(threshold, () => {
        child ??= target().child(fields)
        return child
      })
    },
  }
}
