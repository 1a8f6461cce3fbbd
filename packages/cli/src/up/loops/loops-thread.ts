import type { Worker } from 'node:worker_threads'
import type { Logger, LogRecord } from '@coxswain/kit'
import type { Transport } from '@coxswain/wire'
import { createThreadTransport, serveThread } from '@coxswain/wire/node'
import type { LoopsCommand, LoopsMessage, LoopsOptions } from './loops-messages.ts'

export interface LoopsThreadOptions extends LoopsOptions {
  /** Of `prepareLoopsThread`. */
  readonly worker: Worker
  /** A connection to the server, as somebody who may do everything. */
  readonly connect: (options: { readonly lendsAnswers: boolean }) => Transport
  readonly log: Logger
  readonly signal: AbortSignal
}

export interface LoopsThread {
  /** Resolves when all of them work, with the way to simulated nodes, if there are any. */
  readonly started: Promise<Transport | undefined>
  /** Resolves when they have stopped after `signal`; rejects when one of them fails. */
  readonly ended: Promise<void>
}

/**
 * Controllers, scheduler and simulated nodes on a thread of their own: however much they have to do, whoever else asks the server is
 * answered.
 *
 *   this thread                                           loops-worker.ts
 *   server <-- serveThread <== a port for each client === createThreadTransport <-- controllers, scheduler, nodes
 *   server --> createThreadTransport ==== a port =======> serveThread --> nodes (logs and what else kubelets are asked)
 *   log    <============================================= what they say
 *   signal =============================================> they stop, and give their leases back
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
    const error = new Error(`the thread of the control loops has ended with code ${code}`)
    started.reject(error)
    ended.reject(error)
  }
  worker.on('exit', onExit)
  if (worker.threadId === -1) onExit('unknown')
  send({ start })
  const stop = () => send('stop')
  if (signal.aborted) stop()
  else signal.addEventListener('abort', stop, { once: true })
  // Whoever awaits them is told.
  started.promise.catch(() => {})
  ended.promise.catch(() => {})
  return { started: started.promise, ended: ended.promise }
}

function write(log: Logger, { level, message, fields }: LogRecord): void {
  log.child(fields)[level](message)
}
