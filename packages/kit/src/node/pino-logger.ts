import { type DestinationStream, type Logger as Pino, pino, stdTimeFunctions } from 'pino'
import type { LogFields, Logger, LogLevel } from '../logger.ts'

export interface PinoLoggerOptions {
  /** @default 'info' */
  readonly level?: LogLevel
  /** Where records go, one JSON line each. @default standard error */
  readonly destination?: DestinationStream
}

/** JSON lines for machines. Errors under the field `error` carry their stack and cause. */
export function createPinoLogger(options: PinoLoggerOptions = {}): Logger {
  const { level = 'info', destination = pino.destination({ dest: 2, sync: true }) } = options
  const settings = {
    level,
    base: null,
    timestamp: stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
    serializers: { error: pino.stdSerializers.err },
  }
  return wrap(pino(settings, destination))
}

function wrap(target: Pino): Logger {
  return {
    debug: (message, fields) => target.debug(fields ?? {}, message),
    info: (message, fields) => target.info(fields ?? {}, message),
    warn: (message, fields) => target.warn(fields ?? {}, message),
    error: (message, fields) => target.error(fields ?? {}, message),
    child: (fields: LogFields) => wrap(target.child(fields)),
  }
}
