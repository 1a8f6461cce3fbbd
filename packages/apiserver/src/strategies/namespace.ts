import { nameIsDNSLabel } from '@coxswain/apimachinery'
import { formatAge } from '../handlers/age.ts'
import { childObject, type JsonObject } from '../json.ts'
import type { Strategy } from '../registry/strategy.ts'

const nameLabel = 'kubernetes.io/metadata.name'

const phaseOf = (object: JsonObject) => (object.status as { phase?: string } | undefined)?.phase ?? ''

const finalizersOf = (object: JsonObject) =>
  ((object.spec as JsonObject | undefined)?.finalizers ?? []) as string[]

/** A namespace goes in two steps: it is marked, the namespace controller empties it, and `finalize` lets it go. */
export const namespaceStrategy: Strategy = {
  validateName: nameIsDNSLabel,
  default(object) {
    const metadata = object.metadata as JsonObject
    if (metadata.name) childObject(metadata, 'labels')[nameLabel] = metadata.name
  },
  prepareForCreate(object) {
    const metadata = object.metadata as JsonObject
    childObject(metadata, 'labels')[nameLabel] = metadata.name
    object.status = { phase: 'Active' }
    const spec = childObject(object, 'spec')
    if (!finalizersOf(object).includes('kubernetes'))
      spec.finalizers = [...finalizersOf(object), 'kubernetes']
  },
  prepareForUpdate(object, old) {
    if (old.spec === undefined) delete object.spec
    else object.spec = old.spec
  },
  holdsDeletion: object => finalizersOf(object).length > 0,
  prepareForDelete(object) {
    object.status = { ...(object.status as JsonObject | undefined), phase: 'Terminating' }
  },
  fields: object => ({ 'status.phase': phaseOf(object) }),
  cells: (object, now) => {
    const { name, creationTimestamp } = object.metadata as { name: string; creationTimestamp?: string }
    return [name, phaseOf(object), formatAge(creationTimestamp, now)]
  },
}
