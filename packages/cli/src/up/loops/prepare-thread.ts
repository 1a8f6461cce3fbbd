import { Worker } from 'node:worker_threads'

/** What the thread can load before its first message. */
export interface ThreadPreparation {
  readonly hasSimulatedNodes: boolean
  /** Only controllers that work without Pods run. */
  readonly isGeneric: boolean
}

/** Starts to load the code of the control loops on their thread, while this one loads the server's. Call `startLoopsThread` next. */
export function prepareLoopsThread(preparation: ThreadPreparation): Worker {
  const worker = new Worker(new URL(import.meta.resolve('@coxswain/cli/loops-entry')), {
    workerData: preparation,
    name: 'control loops',
  })
  worker.on('error', () => {}) // reported by startLoopsThread
  return worker
}
