import { childObject } from '@coxswain/apimachinery/json'
import type { Logger } from '@coxswain/kit'
import type { MarkTokenUsed } from '../authentication/authenticator.ts'
import { lastUsedLabel } from '../authentication/service-account/legacy.ts'
import type { Registry } from '../registry/registry.ts'
import type { GuaranteedUpdate } from './guaranteed-update.ts'

interface Ports {
  readonly log: Logger
  readonly registry: Registry
  readonly update: (update: GuaranteedUpdate) => Promise<unknown>
}

/** Labels the Secret of a legacy token with the day it was last used. A failure does not make the token invalid. */
export function createMarkTokenUsed({ log, registry, update }: Ports): MarkTokenUsed {
  return async ({ namespace, name }, date) => {
    try {
      await update({
        endpoint: registry.find('', 'v1', 'secrets')!,
        namespace,
        name,
        dryRun: false,
        conditional: () => false,
        change: async object => {
          const metadata = childObject(object, 'metadata')
          metadata.labels = { ...(metadata.labels as object | undefined), [lastUsedLabel]: date }
          return { type: 'put', object }
        },
      })
    } catch (error) {
      log.error('Failed to label legacy service account token with last-used date', {
        namespace,
        name,
        error,
      })
    }
  }
}
