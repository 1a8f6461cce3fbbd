import type { Worker } from 'node:worker_threads'
import type { Logger, LogRecord } from '@coxswain/kit'
import type { Transport } from '@coxswain/wire'
import { createThreadTransport, serveThread } from '@coxswain/wire/node'
import type { LoopsCommand, LoopsMessage, LoopsOptions } from './loops-messages.ts'

export interface LoopsThreadOptions extends LoopsOptions {
  /** The worker from `prepareLoopsThread`. */
  readonly worker: Worker
  /** A connection to the server, as a member of system:masters. */
  readonly connect: (options: { readonly lendsAnswers: boolean }) => Transport
  readonly log: Logger
  readonly signal: AbortSignal
}

export interface LoopsThread {
  /** Resolves when all of them run, with the connection to simulated nodes, if there are any. */
  readonly started: Promise<Transport | undefined>
  /** Resolves when they have stopped after `signal`; rejects when one of them fails. */
  readonly ended: Promise<void>
}

/**
 * Controllers, scheduler and simulated nodes on a thread of their own, so that their load does not delay other
 * clients of the server.
 *
 *   this thread                                           loops-worker.ts
 *   server <-- serveThread <== a port for each client === createThreadTransport <-- controllers, scheduler, nodes
 *   server --> createThreadTransport ==== a port =======> serveThread --> nodes (logs and other kubelet requests)
 *   log    <============================================= log records
 *   signal =============================================> they stop, and release their leases
 */
export function startLoopsThread(options: LoopsThreadOptions): LoopsThread {
  const { connect, log, signal, worker, ...start } = options
  const send = (command: LoopsCommand) => worker.postMessage(command)
  const started = Promise.withResolvers<Transport | undefined>()
  const ended = Promise.withResolvers<void>()
  worker.on('message', (message: LoopsMessage) => {
    if ('connect' in message) serveThread(message.connect, connect({ lendsAnswers: true }))
    else if ('log' in message) write(log, message.log)
    else started.resolve(message.nodes && createThreadTransport(message.nodes))
  })
  worker.on('error', error => {
    started.reject(error)
    ended.reject(error)
  })
  const onExit = (code: number | string) => {
    if (signal.aborted) ended.resolve()
    const error = new Error(`the thread of the control loops exited with code ${code}`)
    started.reject(error)
    ended.reject(error)
  }
  worker.on('exit', onExit)
  if (worker.threadId === -1) onExit('unknown')
  send({ start })
  const stop = () => send('stop')
  if (signal.aborted) stop()
  else signal.addEventListener('abort', stop, { once: true })
  // Errors are reported to those who await them.
  started.promise.catch(() => {})
  ended.promise.catch(() => {})
  return { started: started.promise, ended: ended.promise }
}

function write(log: Logger, { level, message, fields }: LogRecord): void {
  log.child(fields)[level](message)
}
