import { join } from 'node:path'
import { type MessagePort, parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads'
import { isStoreError } from '../../errors.ts'
import { databaseName, describeError, openForReading } from './database.ts'
import type {
  FromReader,
  FromWriter,
  ReadReply,
  ReadRequest,
  SerializedError,
  ToReader,
  ToWriter,
  WriterOptions,
} from './messages.ts'
import { CountMemory, SnapshotReader } from './snapshot-reader.ts'
import { Writer } from './writer.ts'

/** What a worker is started with. */
export type WorkerRole =
  | { readonly role: 'writer'; readonly options: WriterOptions }
  | { readonly role: 'reader' }

/** The maximum size of one commit, so that a flood does not make the first wait for the last. */
const groupBytes = 16 * 1024 * 1024
/** Reads that take many turns, each on its own connection. */
const longReadings = 3

const role = workerData as WorkerRole
if (role.role === 'writer') runWriter(parentPort!, role.options)
else runReader(parentPort!)

function runWriter(port: MessagePort, options: WriterOptions): void {
  const post = (message: FromWriter) =>
    port.postMessage(message, 'buffer' in message && message.buffer ? [message.buffer] : [])
  let writer: Writer
  try {
    writer = new Writer(options)
  } catch (error) {
    post({ type: 'refused', error: serialize(error) })
    return
  }
  post({ type: 'opened', opened: writer.opened })
  // Everything that arrives during one commit shares the next.
  const waiting: ToWriter[] = []
  port.on('message', (first: ToWriter) => {
    waiting.push(first)
    for (let next = receiveMessageOnPort(port); next; next = receiveMessageOnPort(port))
      waiting.push(next.message)
    while (waiting.length > 0) {
      const message = waiting.shift()!
      if (message.type === 'close') {
        writer.close()
        post({ type: 'done', id: message.id, compacted: 0 })
        port.close()
        return
      }
      if (message.type === 'compact') {
        post(writer.compact(message.id, message.revision))
        continue
      }
      if (message.type === 'probe') {
        post(writer.probe(message.id))
        continue
      }
      const group = [message]
      let bytes = message.buffer.byteLength
      for (let next = waiting[0]; next?.type === 'write' && bytes < groupBytes; next = waiting[0]) {
        group.push(next)
        bytes += next.buffer.byteLength
        waiting.shift()
      }
      for (const reply of writer.commit(group)) post(reply)
      const tidied = writer.tidy()
      if (tidied) post(tidied)
    }
  })
}

function runReader(port: MessagePort): void {
  const post = (message: FromReader, transfer: readonly ArrayBuffer[] = []) =>
    port.postMessage(message, transfer as ArrayBuffer[])
  const counts = new CountMemory()
  const free: SnapshotReader[] = []
  const waiting: Extract<ReadRequest, { type: 'range' }>[] = []
  let quick: SnapshotReader | undefined
  let file = ''
  let busy = 0

  const reply = (replies: readonly ReadReply[]) =>
    post(
      { type: 'replies', replies },
      replies.flatMap(({ buffers = [] }) => buffers),
    )

  /** Takes turns with the thread's other work. */
  const readSlowly = (reader: SnapshotReader, request: ReadRequest) => {
    const steps = reader.read(request)
    const turn = () => {
      const { done, value } = steps.next()
      if (!done) {
        setImmediate(turn)
        return
      }
      reply([value])
      const next = waiting.shift()
      if (next) readSlowly(reader, next)
      else {
        busy--
        free.push(reader)
      }
    }
    turn()
  }

  const startRange = (request: Extract<ReadRequest, { type: 'range' }>) => {
    if (busy >= longReadings) {
      waiting.push(request)
      return
    }
    try {
      const reader = free.pop() ?? new SnapshotReader(openForReading(file, 4000), counts)
      busy++
      readSlowly(reader, request)
    } catch (error) {
      reply([{ id: request.id, error: serialize(error) }])
    }
  }

  port.on('message', (message: ToReader) => {
    if (message.type === 'open') {
      try {
        file = join(message.directory, databaseName)
        quick = new SnapshotReader(openForReading(file), counts)
        post({ type: 'opened' })
      } catch (error) {
        post({ type: 'refused', error: serialize(error) })
      }
    } else if (message.type === 'close') {
      for (const reader of [quick, ...free]) reader?.close()
      port.close()
    } else {
      const replies: ReadReply[] = []
      for (const request of message.requests) {
        if (request.type === 'range') startRange(request)
        else replies.push(quick!.read(request).next().value!)
      }
      if (replies.length > 0) reply(replies)
    }
  })
}

function serialize(error: unknown): SerializedError {
  if (!isStoreError(error)) return describeError(error)
  return { code: error.code, message: error.message }
}
