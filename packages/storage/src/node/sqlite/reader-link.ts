import type { Worker } from 'node:worker_threads'
import { createClosed, StoreError } from '../../errors.ts'
import type { FromReader, ReadReply, ReadRequest, ToReader } from './messages.ts'
import { startThread, toStoreError } from './thread.ts'

interface PendingRead {
  readonly resolve: (reply: ReadReply) => void
  readonly reject: (error: unknown) => void
}

type WithoutId<T> = T extends unknown ? Omit<T, 'id'> : never

/** The main thread's end of the reader: batches the requests of one turn of the event loop into one message. */
export class ReaderLink {
  readonly #thread: Worker
  #gathered: ReadRequest[] = []
  readonly #pending = new Map<number, PendingRead>()
  #opening: { readonly resolve: () => void; readonly reject: (error: unknown) => void } | undefined
  #ids = 0
  #gone: StoreError | undefined

  constructor() {
    this.#thread = startThread({ role: 'reader' })
    this.#thread.on('message', (message: FromReader) => this.#receive(message))
    const end = (cause: unknown) =>
      this.#end(new StoreError('Unavailable', 'the reader thread has exited', { cause }))
    this.#thread.on('error', end)
    this.#thread.on('exit', code => end(new Error(`exit code ${code}`)))
  }

  open(directory: string): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.#gone) return reject(this.#gone)
      this.#opening = { resolve, reject }
      this.#post({ type: 'open', directory })
    })
  }

  /** Rejects with the error of the read. */
  request(request: WithoutId<ReadRequest>): Promise<ReadReply> {
    return new Promise((resolve, reject) => {
      if (this.#gone) return reject(this.#gone)
      const id = this.#ids++
      this.#pending.set(id, { resolve, reject })
      this.#gathered.push({ ...request, id } as ReadRequest)
      if (this.#gathered.length === 1) queueMicrotask(() => this.#flush())
    })
  }

  async close(): Promise<void> {
    if (this.#gone) return
    const ended = new Promise(resolve => this.#thread.once('exit', resolve))
    this.#end(createClosed())
    this.#post({ type: 'close' })
    await ended
  }

  async terminate(): Promise<void> {
    await this.#thread.terminate()
  }

  #flush(): void {
    if (this.#gathered.length === 0) return
    const requests = this.#gathered
    this.#gathered = []
    this.#post({ type: 'read', requests })
  }

  #post(message: ToReader): void {
    this.#thread.postMessage(message)
  }

  #receive(message: FromReader): void {
    if (message.type === 'opened') this.#opening?.resolve()
    else if (message.type === 'refused') this.#opening?.reject(toStoreError(message.error))
    else {
      for (const reply of message.replies) {
        const pending = this.#pending.get(reply.id)
        this.#pending.delete(reply.id)
        if (reply.error) pending?.reject(toStoreError(reply.error))
        else pending?.resolve(reply)
      }
    }
  }

  #end(error: StoreError): void {
    if (this.#gone) return
    this.#gone = error
    this.#opening?.reject(error)
    this.#gathered = []
    for (const { reject } of this.#pending.values()) reject(error)
    this.#pending.clear()
  }
}
