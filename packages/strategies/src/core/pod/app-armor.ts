import { childObject, deepEqual, type JsonObject } from '@coxswain/apimachinery/json'
import { objectOf, recordOf, textOf } from '../../shared/reading.ts'
import { containersOf } from './defaults.ts'

const prefix = 'container.apparmor.security.beta.kubernetes.io/'
const localhost = 'localhost/'

/** Profiles that old clients give as annotations become fields. */
export function applyAppArmorAnnotations(pod: JsonObject): void {
  const spec = objectOf(pod.spec)
  if (objectOf(spec.os).name === 'windows') return
  const annotations = recordOf(objectOf(pod.metadata).annotations)
  for (const container of containersOf(spec)) {
    const annotation = annotations[prefix + textOf(container.name)]
    if (annotation === undefined || objectOf(container.securityContext).appArmorProfile !== undefined)
      continue
    const profile = profileOf(annotation)
    if (!profile || deepEqual(profile, objectOf(spec.securityContext).appArmorProfile ?? null)) continue
    childObject(container, 'securityContext').appArmorProfile = profile
  }
}

function profileOf(annotation: string): JsonObject | undefined {
  if (annotation === 'unconfined') return { type: 'Unconfined' }
  if (annotation === 'runtime/default') return { type: 'RuntimeDefault' }
  const name = annotation.slice(localhost.length)
  if (!annotation.startsWith(localhost) || name === '' || name.trim() !== name) return undefined
  return { type: 'Localhost', localhostProfile: name }
}
