/**
 * What the compiler must accept and reject in the rules of a kind. Nothing here runs: an error that does not happen is an
 * error of the type check.
 */

import type { Deployment } from '@coxswain/api/apps/v1'
import type { CSIDriver, CSINode } from '@coxswain/api/storage/v1'
import type { Decoded, Strategy } from '@coxswain/strategies'

const rules: Strategy<Deployment> = {
  default(object) {
    object.spec ??= {}
    object.spec.replicas ??= 1
    // @ts-expect-error a misspelt field
    object.spec.replcias ??= 1
    // @ts-expect-error a field of another type
    object.spec.paused = 'yes'
  },
  prepareForUpdate(object, old) {
    object.metadata.labels = old.metadata.labels ?? {}
    // @ts-expect-error a misspelt field of the old object
    old.spec?.sellector
  },
  validate(object) {
    // @ts-expect-error the decoder leaves out what the author left out
    object.spec.replicas
    object.spec?.template?.spec?.containers?.map(({ image }) => image satisfies string | undefined)
    return []
  },
  // @ts-expect-error a misspelt rule
  validateUpdates: () => [],
}
rules satisfies object

// Lists and maps may be null, enums are any string, metadata is always there.
declare const node: Decoded<CSINode>
node.spec?.drivers satisfies object[] | null | undefined
node.metadata.annotations satisfies { [key: string]: string } | null | undefined
declare const driver: Decoded<CSIDriver>
driver.spec?.fsGroupPolicy satisfies string | undefined

// The server has all kinds in one form, and a kind's own form is not it.
// @ts-expect-error made with defineStrategy
rules satisfies Strategy
