import { execFileSync } from 'node:child_process'
import { mkdirSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { cacheFolder } from '../../../tools/components/index.ts'

/** Compiles the shim and returns where it is. A machine without a C compiler cannot run these tests. */
export function buildShim(): string {
  const folder = join(cacheFolder, 'bin')
  mkdirSync(folder, { recursive: true })
  const target = join(folder, 'disk-shim.so')
  const source = fileURLToPath(new URL('./disk-shim.c', import.meta.url))
  const partial = `${target}.${process.pid}`
  execFileSync('gcc', ['-shared', '-fPIC', '-O1', '-Wall', '-o', partial, source, '-ldl', '-lpthread'])
  renameSync(partial, target)
  return target
}

/** The environment of a program whose doings in `folder` go through the shim. */
export function shimEnvironment(
  shim: string,
  settings: {
    folder: string
    log?: string
    fault?: string
    faultSuffix?: string
    /** The fault lasts as long as this file is there. */
    faultWhile?: string
    syncDelay?: number
  },
): NodeJS.ProcessEnv {
  const { folder, log, fault, faultSuffix, faultWhile, syncDelay } = settings
  return {
    ...process.env,
    LD_PRELOAD: shim,
    DISK_FOLDER: folder,
    ...(log ? { DISK_LOG: log } : {}),
    ...(fault ? { DISK_FAULT: fault } : {}),
    ...(syncDelay ? { DISK_SYNC_DELAY: String(syncDelay) } : {}),
    ...(faultSuffix ? { DISK_FAULT_SUFFIX: faultSuffix } : {}),
    ...(faultWhile ? { DISK_FAULT_WHILE: faultWhile } : {}),
  }
}
