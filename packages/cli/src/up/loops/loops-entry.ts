/**
 * Where the thread of the control loops starts: imports are resolved faster from here on. On a main thread it does nothing.
 * @module
 */
import { isMainThread } from 'node:worker_threads'
import { resolveOnce } from '../../host/resolve-once.ts'

if (!isMainThread) {
  resolveOnce()
  import('./loops-worker.ts').then(({ runLoops }) => runLoops())
}
