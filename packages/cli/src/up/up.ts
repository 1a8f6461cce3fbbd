import { resolve } from 'node:path'
import { createRealEnv, LogThreshold } from '@coxswain/kit'
import { createTurnTakingScheduler } from '@coxswain/kit/node'
import { isStoreError } from '@coxswain/storage'
import { CommandError, unwrapSuppressed } from '../exit.ts'
import { createLog, cycleOnSignal } from '../host/create-log.ts'
import { prepareDirectory } from './data-directory.ts'
import { prepareLoopsThread } from './loops/prepare-thread.ts'
import { createComponentLogs } from './nodes/component-logs.ts'
import { checkAuthorizationFlags } from './options/authorization-options.ts'
import { checkCombinations, completeOptions } from './options/combinations.ts'
import { selectControllers } from './options/controller-names.ts'
import type { GivenOptions, UpOptions } from './options/up-options.ts'
import { loadStore } from './store.ts'

/** Starts everything and resolves when it has stopped. A start that fails leaves nothing behind. */
export async function runUp(flags: UpOptions, given: GivenOptions): Promise<void> {
  const options = completeOptions(flags, given)
  const logLevel = new LogThreshold(options.logLevel)
  const logs = createComponentLogs(createLog(options.logFormat, logLevel), logLevel, createRealEnv().clock)
  const env = { ...createRealEnv(logs.log), scheduler: createTurnTakingScheduler() }
  using _signal = cycleOnSignal(logLevel, env.log)
  const controllers = selectControllers(options.controllers)
  checkAuthorizationFlags(options)
  checkCombinations(options, given)
  const dataDir = resolve(options.dataDir)
  const openStore = await loadStore(options, dataDir, { ...env, log: env.log.child({ component: 'etcd' }) })
  const directory = prepareDirectory(dataDir, {
    parts: [
      ...(options.certDir === undefined ? ['pki'] : []),
      ...(options.storage === 'sqlite' ? ['store'] : []),
    ],
    // Containers that are processes may run as any user when this one is root.
    isPassable: options.runtime === 'process' && process.getuid?.() === 0,
  })
  // The store's threads start while the server's code is being loaded.
  const opening = openStore()
  opening.catch(() => {}) // reported where it is awaited
  // The code of the control loops is loaded in parallel with the server's.
  const worker =
    controllers.length > 0
      ? prepareLoopsThread({ hasSimulatedNodes: options.nodes > 0 && options.runtime === 'simulated' })
      : undefined
  let isReady = false
  const onReady = () => {
    isReady = true
  }
  try {
    const { runControlPlane } = await import('./control-plane.ts')
    await runControlPlane({
      options,
      given,
      dataDir,
      env,
      logs,
      logLevel,
      controllers,
      worker,
      opening,
      onReady,
    })
  } catch (error) {
    // Threads would keep the process alive after a failure.
    await worker?.terminate()
    await opening.then(
      store => store.close(),
      () => {},
    )
    if (!isReady) directory.undo()
    throw explain(unwrapSuppressed(error), dataDir)
  }
}

/** Damage is found when the store is opened, or when objects are read. */
function explain(error: unknown, dataDir: string): unknown {
  if (!isStoreError(error, 'Corrupt')) return error
  return new CommandError(
    `the store in ${dataDir} is damaged: ${error.message}; for details run coxswain store check; restore a backup with: coxswain store restore FILE`,
    { cause: error },
  )
}
