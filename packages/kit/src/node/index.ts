export { createPinoLogger, type PinoLoggerOptions } from './pino-logger.ts'
export { registerProcessMetrics } from './process-metrics.ts'
export { abortOnSignals } from './signals.ts'
export { createTurnTakingScheduler } from './turn-taking-scheduler.ts'
