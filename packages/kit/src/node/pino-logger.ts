import { createRequire } from 'node:module'
import type { DestinationStream, Logger as Pino, pino as PinoFactory } from 'pino'
import { isReported, type LogFields, type Logger, type LogLevel, LogThreshold } from '../logger.ts'

/** Options of {@link createPinoLogger}. */
export interface PinoLoggerOptions {
  /** A level, or one that changes while the program runs. @default 'info' */
  readonly level?: LogLevel | LogThreshold
  /** Where records go, one JSON line each. @default standard error */
  readonly destination?: DestinationStream
}

/**
 * JSON lines for machines. Errors under the field `error` include their stack and cause. Pino is loaded when the first record is
 * written: most programs start without logging.
 */
export function createPinoLogger(options: PinoLoggerOptions = {}): Logger {
  const { level = 'info', destination } = options
  let target: Pino | undefined
  return wrap(typeof level === 'string' ? new LogThreshold(level) : level, () => {
    target ??= load(destination)
    return target
  })
}

function load(destination: DestinationStream | undefined): Pino {
  const { pino } = createRequire(import.meta.url)('pino') as { pino: typeof PinoFactory }
  const settings = {
    level: 'debug', // the threshold is asked before
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
    serializers: {
      error: (error: Error) => describe(error, own => pino.stdSerializers.err(withoutStatus(own as Error))),
    },
  }
  return pino(settings, destination ?? pino.destination({ dest: 2, sync: true }))
}

/**
 * An error with a Kubernetes Status, without the Status: its message is the error's, and pino would log it as another error. Code
 * and reason are kept.
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

/** An error that was already logged is only named. */
function describe(error: Error, inFull: (error: Error) => unknown): unknown {
  return isReported(error) ? { type: error.name, message: error.message } : inFull(error)
}

/** The members that pino writes itself. */
const reserved: readonly string[] = ['level', 'time', 'msg']

function wrap(threshold: LogThreshold, target: () => Pino, bound: LogFields = {}): Logger {
  const write = (level: LogLevel) => (message: string, fields?: LogFields) => {
    if (threshold.admits(level)) target()[level](unique({ ...bound, ...fields }), message)
  }
  return {
    debug: write('debug'),
    info: write('info'),
    warn: write('warn'),
    error: write('error'),
    // Pino writes the fields of its children as they are: a record that has one of them too would have it twice.
    child: (fields: LogFields) => wrap(threshold, target, { ...bound, ...fields }),
  }
}

function unique(fields: LogFields): LogFields {
  if (!reserved.some(name => name in fields)) return fields
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [reserved.includes(name) ? `${name}_` : name, value]),
  )
}
