/** Structured fields of a log entry. */
export type LogFields = Readonly<Record<string, unknown>>
/** The severity of a record. */
export type LogLevel = 'debug' | 'info' | 'warn' | 'error'

/** From what matters least to what matters most. */
export const logLevels: readonly LogLevel[] = ['debug', 'info', 'warn', 'error']

/** The level from which records are written. It may change while loggers use it. */
export class LogThreshold {
  level: LogLevel

  constructor(level: LogLevel) {
    this.level = level
  }

  admits(level: LogLevel): boolean {
    return logLevels.indexOf(level) >= logLevels.indexOf(this.level)
  }

  /** Moves on to the next level that shows less; after the last it starts again with everything. */
  cycle(): LogLevel {
    this.level = logLevels[(logLevels.indexOf(this.level) + 1) % logLevels.length]!
    return this.level
  }
}

/** A structured logger: a constant message, and fields for everything that varies. */
export interface Logger {
  debug(message: string, fields?: LogFields): void
  info(message: string, fields?: LogFields): void
  warn(message: string, fields?: LogFields): void
  error(message: string, fields?: LogFields): void
  /** A logger that adds `fields` to every record. */
  child(fields: LogFields): Logger
}

/** Discards everything. */
export const silentLogger: Logger = {
  debug() {},
  info() {},
  warn() {},
  error() {},
  child: () => silentLogger,
}

/** One log record. */
export interface LogRecord {
  readonly level: LogLevel
  readonly message: string
  readonly fields: LogFields
}

/** Hands every record to `sink`: for tests, the simulator and the browser. */
export function createLogger(sink: (record: LogRecord) => void, bound: LogFields = {}): Logger {
  const write = (level: LogLevel) => (message: string, fields?: LogFields) =>
    sink({ level, message, fields: fields ? { ...bound, ...fields } : bound })
  return {
    debug: write('debug'),
    info: write('info'),
    warn: write('warn'),
    error: write('error'),
    child: fields => createLogger(sink, { ...bound, ...fields }),
  }
}

const reported = Symbol.for('coxswain.kit.reported')

/** Marks an error as logged, so that its handlers need not log it again. */
export function markReported(error: object): void {
  if (Object.isExtensible(error)) Object.defineProperty(error, reported, { value: true })
}

/** Whether an error was already logged. True also for one marked by another copy of this package. */
export function isReported(error: unknown): boolean {
  return typeof error === 'object' && error !== null && reported in error
}
