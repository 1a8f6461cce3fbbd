import { isObject, type JsonObject } from '@coxswain/apimachinery/json'
import { ageCell, nameCell } from '../shared/cells.ts'
import { recordOf } from '../shared/reading.ts'
import type { Strategy } from '../strategy.ts'

const enforceAnnotation = 'kubernetes.io/enforce-mountable-secrets'

export const serviceAccountStrategy: Strategy = {
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
  cells: (object, now) => [nameCell(object), ageCell(object, now)],
}

const isEnforcing = (object: JsonObject): boolean =>
  Object.hasOwn(recordOf((object.metadata as JsonObject).annotations), enforceAnnotation)

/** Secrets are of the same namespace and kind: a name says all. */
function keepSecretNames(object: JsonObject): void {
  if (!Array.isArray(object.secrets)) return
  object.secrets = object.secrets.filter(isObject).map(({ name }) => (name ? { name } : {}))
}
