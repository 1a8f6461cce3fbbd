import { Worker } from 'node:worker_threads'

/** What the thread can load before its first message. */
export interface ThreadPreparation {
  readonly hasSimulatedNodes: boolean
  /** Only controllers that work without Pods run. */
  readonly isGeneric: boolean
}

/** Starts to load the code of the control loops on their thread, while this one loads the server's. Call `startLoopsThread` next. */
export function prepareLoopsThread(preparation: ThreadPreparation): Worker {
  const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js'
  const worker = new Worker(new URL(`./loops-entry.${extension}`, import.meta.url), {
    workerData: preparation,
    name: 'control loops',
  })
  worker.on('error', () => {}) // reported by startLoopsThread
  return worker
}
