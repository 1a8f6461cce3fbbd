import { Worker } from 'node:worker_threads'
import { MachineryError } from '@coxswain/apimachinery/errors'
import type { YamlAsJson, YamlReader } from '../filters/request-body.ts'
import type { YamlAnswer, YamlQuestion } from './yaml-worker.ts'

/** An idle thread is stopped after this time. */
const idleTime = 30_000

interface Thread {
  readonly worker: Worker
  readonly waiting: Map<number, PromiseWithResolvers<YamlAsJson>>
}

/** Parses YAML on a thread, which runs while there are documents to parse. */
export function createYamlThread(): YamlReader {
  let thread: Thread | undefined
  let idle: NodeJS.Timeout | undefined
  let lastId = 0

  const start = (): Thread => {
    const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js'
    const worker = new Worker(new URL(`./yaml-worker.${extension}`, import.meta.url))
    const waiting: Thread['waiting'] = new Map()
    const fail = (error: Error) => {
      if (thread?.worker === worker) thread = undefined
      for (const each of waiting.values()) each.reject(error)
      waiting.clear()
    }
    worker.on('message', (answer: YamlAnswer) => {
      const asked = waiting.get(answer.id)
      waiting.delete(answer.id)
      if (waiting.size === 0) rest()
      if ('json' in answer) asked?.resolve(answer)
      else if (answer.code) asked?.reject(new MachineryError(answer.code, answer.message))
      else asked?.reject(new Error(answer.message))
    })
    worker.on('error', fail)
    worker.on('exit', () => fail(new Error('the YAML thread has exited')))
    return { worker, waiting }
  }

  const rest = () => {
    thread?.worker.unref()
    idle = setTimeout(() => {
      const ended = thread
      thread = undefined
      ended?.worker.terminate()
    }, idleTime)
    idle.unref()
  }

  return bytes => {
    clearTimeout(idle)
    thread ??= start()
    thread.worker.ref()
    const id = ++lastId
    const answer = Promise.withResolvers<YamlAsJson>()
    thread.waiting.set(id, answer)
    const question: YamlQuestion = { id, bytes: bytes.slice() }
    thread.worker.postMessage(question, [question.bytes.buffer as ArrayBuffer])
    return answer.promise
  }
}
