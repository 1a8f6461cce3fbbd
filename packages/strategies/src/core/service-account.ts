import type { ServiceAccount } from '@coxswain/api/core/v1'
import type { Decoded } from '../decoded.ts'
import { defineStrategy } from '../define-strategy.ts'
import { ageCell, nameCell } from '../shared/cells.ts'
import type { Strategy } from '../strategy.ts'

const enforceAnnotation = 'kubernetes.io/enforce-mountable-secrets'

export const serviceAccountStrategy: Strategy = defineStrategy<ServiceAccount>({
  returnsDeleted: true,
  prepareForCreate: keepSecretNames,
  prepareForUpdate: keepSecretNames,
  warnings(object, old) {
    if (old && isEnforcing(old)) return []
    if (!isEnforcing(object)) return []
    return [
      `metadata.annotations[${enforceAnnotation}]: deprecated in v1.32+; prefer separate namespaces to isolate access to mounted secrets`,
    ]
  },
  cells: (object, now) => ({ Name: nameCell(object), Age: ageCell(object, now) }),
})

const isEnforcing = (object: Decoded<ServiceAccount>): boolean =>
  Object.hasOwn(object.metadata.annotations ?? {}, enforceAnnotation)

/** Secrets are of the same namespace and kind: a name says all. */
function keepSecretNames(object: Decoded<ServiceAccount>): void {
  if (object.secrets) object.secrets = object.secrets.map(({ name }) => (name ? { name } : {}))
}
