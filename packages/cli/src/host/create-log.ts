import type { Logger, LogThreshold } from '@coxswain/kit'
import { createPinoLogger, createTextLogger } from '@coxswain/kit/node'

/** A logger to standard error. Without a format: text in a terminal, JSON elsewhere. */
export function createLog(format: 'text' | 'json' | undefined, level: LogThreshold): Logger {
  const isText = format === undefined ? process.stderr.isTTY === true : format === 'text'
  return isText ? createTextLogger({ level }) : createPinoLogger({ level })
}

/** Cycles through the log levels on SIGUSR2, until it is disposed. */
export function cycleOnSignal(level: LogThreshold, log: Logger): Disposable {
  const onSignal = (): void => {
    const next = level.cycle()
    log[next]('the log level was changed', { to: next })
  }
  process.on('SIGUSR2', onSignal)
  return { [Symbol.dispose]: () => void process.off('SIGUSR2', onSignal) }
}
