/**
 * Where the thread of the control loops starts: imports are resolved faster from here on.
 * @module
 */
import { resolveOnce } from '../../host/resolve-once.ts'

resolveOnce()
import('./loops-worker.ts').then(({ runLoops }) => runLoops())
