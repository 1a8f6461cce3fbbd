import type { Clock, Logger, Timer } from '@coxswain/kit'
import type { AuditEvent } from './event.ts'

/** Receives audit events. It reports its own failures: a request never fails because of the audit log. */
export interface AuditBackend extends AsyncDisposable {
  write(event: AuditEvent): void
}

/** How a backend queues and batches events. */
export interface BatchOptions {
  readonly clock: Clock
  readonly log: Logger
  /** Names the backend in log messages. */
  readonly name: string
  /** Sends a batch. When it rejects, the error is logged and the batch is lost. */
  readonly send: (events: readonly AuditEvent[]) => Promise<void>
  /** The maximum number of queued events; more are dropped and counted. @default 10000 */
  readonly bufferSize?: number
  /** @default 400 */
  readonly maxSize?: number
  /** Milliseconds until a partial batch is sent. @default 30000 */
  readonly maxWait?: number
}

/** Queues events and sends them in batches, one at a time. */
export function createBatchingBackend(options: BatchOptions): AuditBackend {
  const { clock, log, name, send, bufferSize = 10_000, maxSize = 400, maxWait = 30_000 } = options
  let buffer: AuditEvent[] = []
  let timer: Timer | undefined
  let sending: Promise<void> | undefined
  let dropped = 0

  async function drain(what: 'all' | 'full batches'): Promise<void> {
    while (buffer.length >= maxSize || (what === 'all' && buffer.length > 0)) {
      const batch = buffer.slice(0, maxSize)
      buffer = buffer.slice(maxSize)
      try {
        await send(batch)
      } catch (error) {
        log.error('audit events were lost', { backend: name, events: batch.length, error })
      }
    }
  }

  function flush(what: 'all' | 'full batches'): void {
    timer?.cancel()
    timer = undefined
    sending ??= drain(what).finally(() => {
      sending = undefined
      if (buffer.length >= maxSize) flush('full batches')
      else if (buffer.length > 0) timer ??= clock.after(maxWait, () => flush('all'))
    })
  }

  return {
    write(event) {
      if (buffer.length >= bufferSize) {
        if (dropped++ === 0) log.error('audit events are dropped: the backend is too slow', { backend: name })
        return
      }
      if (dropped > 0) {
        log.error('audit events were dropped', { backend: name, events: dropped })
        dropped = 0
      }
      buffer.push(event)
      if (buffer.length >= maxSize) flush('full batches')
      else timer ??= clock.after(maxWait, () => flush('all'))
    },
    async [Symbol.asyncDispose]() {
      timer?.cancel()
      await sending
      await drain('all')
    },
  }
}
