import { Worker } from 'node:worker_threads'
import { StoreError } from '../../errors.ts'
import type { SerializedError } from './messages.ts'
import type { WorkerRole } from './worker.ts'

/** Starts a thread of the store; from source or from compiled code, whichever this file is. */
export function startThread(role: WorkerRole): Worker {
  const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js'
  return new Worker(new URL(`./worker.${extension}`, import.meta.url), {
    workerData: role,
    name: `storage ${role.role}`,
    resourceLimits: { maxYoungGenerationSizeMb: 8 },
  })
}

/** Restores an error from another thread. */
export function toStoreError(error: SerializedError): StoreError {
  const { code, message, detail, compactedRevision } = error
  return new StoreError(code, message, {
    ...(detail === undefined ? {} : { cause: new Error(detail) }),
    ...(compactedRevision === undefined ? {} : { compactedRevision }),
  })
}
