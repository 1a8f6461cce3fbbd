import type { AppArmorProfile, Pod } from '@coxswain/api/core/v1'
import { deepEqual } from '@coxswain/apimachinery/json'
import type { Decoded } from '../../decoded.ts'
import { childOf } from '../../shared/members.ts'
import { containersOf } from './defaults.ts'

const prefix = 'container.apparmor.security.beta.kubernetes.io/'
const localhost = 'localhost/'

/** Profiles that old clients give as annotations become fields. */
export function applyAppArmorAnnotations(pod: Decoded<Pod>): void {
  const spec = pod.spec ?? {}
  if (spec.os?.name === 'windows') return
  const annotations = pod.metadata.annotations ?? {}
  for (const container of containersOf(spec)) {
    const annotation = annotations[prefix + (container.name ?? '')]
    if (annotation === undefined || container.securityContext?.appArmorProfile !== undefined) continue
    const profile = profileOf(annotation)
    if (!profile || deepEqual(profile, spec.securityContext?.appArmorProfile ?? null)) continue
    childOf(container, 'securityContext').appArmorProfile = profile
  }
}

function profileOf(annotation: string): Decoded<AppArmorProfile> | undefined {
  if (annotation === 'unconfined') return { type: 'Unconfined' }
  if (annotation === 'runtime/default') return { type: 'RuntimeDefault' }
  const name = annotation.slice(localhost.length)
  if (!annotation.startsWith(localhost) || name === '' || name.trim() !== name) return undefined
  return { type: 'Localhost', localhostProfile: name }
}
