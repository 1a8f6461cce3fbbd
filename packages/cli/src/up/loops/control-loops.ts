import { createHmac } from 'node:crypto'
import { rm } from 'node:fs/promises'
import {
  createLocalCloud,
  createControllerManager as createManager,
  ensureDefaultStorageClass,
} from '@coxswain/controllers'
import type { Env } from '@coxswain/kit'
import type { Operator } from '@coxswain/runtime'
import { createScheduler } from '@coxswain/scheduler'
import { readCertificate } from '@coxswain/wire/node'
import type { SchedulerFlags } from '../options/scheduler-options.ts'
import { createCertificateIssuer } from './certificate-issuer.ts'
import type { LoopsModule, ManagerOptions } from './loops-messages.ts'

/** All of the controllers with what this machine provides for them. */
export function createControllerManager({
  env,
  ca,
  cloudProvider,
  volumes,
  ...rest
}: ManagerOptions): Operator {
  return createManager({
    ...rest,
    ...(cloudProvider === 'local' && { cloud: createLocalCloud }),
    hmac: (key, text) => createHmac('sha256', key).update(text).digest(),
    certificates: createCertificateIssuer(ca, env),
    certificateCleaner: { expiresAt: pem => readCertificate(pem).notAfter },
    localPath: { root: volumes, remove: path => rm(path, { recursive: true, force: true }) },
  })
}

/** The controllers, and the scheduler where there are Pods and nodes. */
export const createLoops: LoopsModule['createLoops'] = async (options, { env, client, group }) => {
  const manager = createControllerManager({ ...options, env })
  if (options.controllers.includes('local-path-provisioner'))
    group.spawn(async signal => {
      try {
        await ensureDefaultStorageClass(client)
      } catch (error) {
        // Not fatal: claims can still name a class.
        if (!signal.aborted) env.log.error('the default storage class could not be created', { error })
      }
    })
  const hasScheduler = options.serves('pods') && options.serves('nodes')
  return hasScheduler ? [manager, createScheduler(await loadScheduler(options.scheduler, env))] : [manager]
}

/** The scheduler's flags are loaded if there are any. */
async function loadScheduler(flags: SchedulerFlags, env: Env) {
  if (flags.schedulerConfig === undefined && flags.schedulerPlugin === undefined) return undefined
  return await (await import('./scheduler.ts')).loadSchedulerOptions(flags, env)
}
