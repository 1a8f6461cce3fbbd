import { resolve } from 'node:path'
import { isGenericController } from '@coxswain/controllers/names'
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
import { loadServedKinds, runsPods } from './options/kinds.ts'
import type { GivenOptions, UpOptions } from './options/up-options.ts'
import { loadStore } from './store.ts'

/** Starts everything and resolves when it has stopped. A start that fails leaves nothing behind. */
export async function runUp(flags: UpOptions, given: GivenOptions): Promise<void> {
  const kinds = await loadServedKinds(flags.kinds)
  const options = completeOptions(flags, given, kinds)
  const logLevel = new LogThreshold(options.logLevel)
  const logs = createComponentLogs(createLog(options.logFormat, logLevel), logLevel, createRealEnv().clock)
  const env = { ...createRealEnv(logs.log), scheduler: createTurnTakingScheduler() }
  using _signal = cycleOnSignal(logLevel, env.log)
  const controllers = selectControllers(options.controllers, kinds.serves)
  checkAuthorizationFlags(options)
  checkCombinations(options, given, kinds)
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
  const isGeneric = !runsPods(kinds) && controllers.every(isGenericController)
  const prepareThread = () =>
    prepareLoopsThread({
      hasSimulatedNodes: options.nodes > 0 && options.runtime === 'simulated',
      isGeneric,
    })
  // The code of the control loops is loaded in parallel with the server's; where the server does not wait for them, after it.
  let worker = controllers.length > 0 && !isGeneric ? prepareThread() : undefined
  const loopsThread =
    controllers.length > 0
      ? () => {
          worker ??= prepareThread()
          return worker
        }
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
      kinds,
      dataDir,
      env,
      logs,
      logLevel,
      controllers,
      loopsThread,
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
