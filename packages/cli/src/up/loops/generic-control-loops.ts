import { createGenericControllerManager } from '@coxswain/controllers/generic'
import { isGenericController } from '@coxswain/controllers/names'
import type { LoopsModule } from './loops-messages.ts'

/** The controllers of a control plane without Pods: no other code is loaded. */
export const createLoops: LoopsModule['createLoops'] = async options => [
  createGenericControllerManager({
    ...options,
    controllers: options.controllers.filter(isGenericController),
  }),
]
