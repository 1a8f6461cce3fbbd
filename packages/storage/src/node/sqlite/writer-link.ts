import type { Worker } from 'node:worker_threads'
import { StoreError } from '../../errors.ts'
import type { TransactionResult } from '../../store.ts'
import { ByteReader, ByteWriter } from './bytes.ts'
import {
  type FromWriter,
  type Opened,
  readOutcome,
  type ToWriter,
  type WriteOutcome,
  type WriteRequest,
  type WriterOptions,
  writeTransaction,
} from './messages.ts'
import { startThread, toStoreError } from './thread.ts'

interface PendingWrite {
  readonly request: WriteRequest
  readonly resolve: (result: TransactionResult) => void
  readonly reject: (error: unknown) => void
}

interface PendingCall {
  readonly resolve: (compacted: number) => void
  readonly reject: (error: unknown) => void
}

/** This many are sent before the turn is over: the writer works on them while the others are being encoded. */
const gatheredAtMost = 48

/** The main thread's end of the writer: batches the writes of one turn of the event loop into one message. */
export class WriterLink {
  /** Called for each durable group, before its writers are notified. */
  onCommit: (
    revision: number,
    results: readonly { request: WriteRequest; result: TransactionResult }[],
  ) => void = () => {}
  onCompacted: (revision: number) => void = () => {}
  /** Called for a group that failed, before its writers are notified. */
  onFailed: (error: StoreError) => void = () => {}
  /** What the writer found; rejects when it cannot open the directory. */
  readonly opened: Promise<Opened>

  readonly #thread: Worker
  #gathered: PendingWrite[] = []
  readonly #sent = new Map<number, readonly PendingWrite[]>()
  readonly #calls = new Map<number, PendingCall>()
  #ids = 0
  /** Set once the thread has ended, for whatever reason. */
  #gone: StoreError | undefined
  #idle: (() => void)[] = []

  constructor(options: WriterOptions) {
    this.#thread = startThread({ role: 'writer', options })
    this.opened = new Promise((resolve, reject) => {
      this.#thread.on('message', (message: FromWriter) => {
        if (message.type === 'opened') resolve(message.opened)
        else if (message.type === 'refused') reject(toStoreError(message.error))
        else this.#receive(message)
      })
      const end = (cause: unknown) => {
        const error = new StoreError('Failed', 'the writer thread has exited', { cause })
        reject(error)
        this.#end(error)
      }
      this.#thread.on('error', end)
      this.#thread.on('exit', code => end(new Error(`exit code ${code}`)))
    })
    this.opened.catch(() => {})
  }

  write(request: WriteRequest): Promise<TransactionResult> {
    return new Promise((resolve, reject) => {
      if (this.#gone) return reject(this.#gone)
      const gathered = this.#gathered.push({ request, resolve, reject })
      if (gathered === 1) queueMicrotask(() => this.#flush())
      else if (gathered >= gatheredAtMost) this.#flush()
    })
  }

  /** Resolves with the oldest readable revision. */
  compact(revision: number): Promise<number> {
    return this.#call(id => ({ type: 'compact', id, revision }))
  }

  /** Rejects while writes fail. */
  async probe(): Promise<void> {
    await this.#call(id => ({ type: 'probe', id }))
  }

  /** Resolves when nothing is in progress. */
  async drain(): Promise<void> {
    this.#flush()
    while (this.#sent.size > 0) await new Promise<void>(resolve => this.#idle.push(resolve))
  }

  async close(): Promise<void> {
    const ended = new Promise(resolve => this.#thread.once('exit', resolve))
    if (this.#gone) return
    await this.#call(id => ({ type: 'close', id }))
    await ended
  }

  async terminate(): Promise<void> {
    await this.#thread.terminate()
  }

  #call(make: (id: number) => ToWriter): Promise<number> {
    return new Promise((resolve, reject) => {
      if (this.#gone) return reject(this.#gone)
      this.#flush()
      const id = this.#ids++
      this.#calls.set(id, { resolve, reject })
      this.#thread.postMessage(make(id))
    })
  }

  #flush(): void {
    const group = this.#gathered
    if (group.length === 0 || this.#gone) return
    this.#gathered = []
    let size = 64
    for (const { request } of group) {
      for (const operation of request.operations) {
        size += operation.key.length + 32 + (operation.type === 'put' ? operation.value.length : 0)
      }
      for (const { key } of request.conditions) size += key.length + 16
    }
    const out = new ByteWriter(size)
    for (const { request } of group) writeTransaction(out, request)
    const buffer = out.finish()
    const id = this.#ids++
    this.#sent.set(id, group)
    const message: ToWriter = { type: 'write', id, count: group.length, buffer }
    this.#thread.postMessage(message, [buffer])
  }

  #receive(message: Exclude<FromWriter, { type: 'opened' | 'refused' }>): void {
    if (message.type === 'compacted') {
      this.onCompacted(message.revision)
      return
    }
    const { id } = message
    const call = this.#calls.get(id)
    if (call) {
      this.#calls.delete(id)
      if (message.type === 'failed') call.reject(toStoreError(message.error))
      else call.resolve(message.compacted)
      return
    }
    const group = this.#sent.get(id) ?? []
    this.#sent.delete(id)
    if (message.type === 'failed') {
      const error = toStoreError(message.error)
      this.onFailed(error)
      for (const { reject } of group) reject(error)
    } else {
      this.#settle(group, message.buffer!)
    }
    this.#checkIdle()
  }

  #settle(group: readonly PendingWrite[], buffer: ArrayBuffer): void {
    const input = new ByteReader(buffer)
    const outcomes: WriteOutcome[] = []
    const results: { request: WriteRequest; result: TransactionResult }[] = []
    let revision = 0
    for (const { request } of group) {
      const outcome = readOutcome(input, request)
      outcomes.push(outcome)
      if ('error' in outcome) continue
      results.push({ request, result: outcome })
      revision = Math.max(revision, outcome.revision)
    }
    this.onCommit(revision, results)
    for (const [index, { resolve, reject }] of group.entries()) {
      const outcome = outcomes[index]!
      if ('error' in outcome) reject(toStoreError(outcome.error))
      else resolve(outcome)
    }
  }

  #end(error: StoreError): void {
    if (this.#gone) return
    this.#gone = error
    this.onFailed(error)
    const unknown = new StoreError('UnknownOutcome', 'the writer thread exited during the write', {
      cause: error,
    })
    for (const group of this.#sent.values()) for (const { reject } of group) reject(unknown)
    this.#sent.clear()
    for (const { reject } of this.#gathered) reject(error)
    this.#gathered = []
    for (const { reject } of this.#calls.values()) reject(error)
    this.#calls.clear()
    this.#checkIdle()
  }

  #checkIdle(): void {
    if (this.#sent.size > 0) return
    const waiting = this.#idle
    this.#idle = []
    for (const resolve of waiting) resolve()
  }
}
