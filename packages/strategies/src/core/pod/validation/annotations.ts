import type { AppArmorProfile, PodSpec, SeccompProfile } from '@coxswain/api/core/v1'
import type { FieldError } from '@coxswain/apimachinery/field'
import * as field from '@coxswain/apimachinery/field'
import type { ObjectMeta } from '@coxswain/apimachinery/meta'
import type { Decoded } from '../../../decoded.ts'
import { containersWithPath, type Findings } from '../../../shared/reading.ts'
import { validateDescendingPath } from './paths.ts'

export const mirrorAnnotation = 'kubernetes.io/config.mirror'
const deletionCost = 'controller.kubernetes.io/pod-deletion-cost'
const seccompPod = 'seccomp.security.alpha.kubernetes.io/pod'
const seccompContainer = 'container.seccomp.security.alpha.kubernetes.io/'
const appArmor = 'container.apparmor.security.beta.kubernetes.io/'
const localhost = 'localhost/'

/** The rules of the annotations of a Pod that have a meaning. `path` is that of `annotations`. */
export function* validatePodAnnotations(
  annotations: Readonly<Record<string, string>>,
  spec: Decoded<PodSpec>,
  path: field.Path,
): Findings {
  if (Object.keys(annotations).length === 0) return
  const mirror = annotations[mirrorAnnotation]
  if (mirror !== undefined && (spec.nodeName ?? '') === '') {
    const message = 'must set spec.nodeName if mirror pod annotation is set'
    yield field.invalid(path.key(mirrorAnnotation), mirror, message)
  }
  const cost = annotations[deletionCost]
  if (cost !== undefined && !isCost(cost))
    yield field.invalid(path.key(deletionCost), cost, 'must be a 32bit integer')
  for (const [key, value] of Object.entries(annotations)) {
    if (key === seccompPod || key.startsWith(seccompContainer))
      yield* validateSeccompAnnotation(value, path.child(key))
  }
  const names = new Set([...containersWithPath(spec, path)].map(([container]) => container.name ?? ''))
  for (const [key, value] of Object.entries(annotations)) {
    if (!key.startsWith(appArmor)) continue
    const name = key.slice(appArmor.length)
    if (!names.has(name)) yield field.invalid(path.key(key), name, 'container not found')
    if (value !== '' && value !== 'runtime/default' && value !== 'unconfined' && !value.startsWith(localhost))
      yield field.invalid(path.key(key), value, `invalid AppArmor profile name: ${JSON.stringify(value)}`)
  }
}

function isCost(text: string): boolean {
  if (text === '0') return true
  return /^-?[1-9][0-9]*$/.test(text) && Number(text) >= -(2 ** 31) && Number(text) < 2 ** 31
}

function* validateSeccompAnnotation(value: string, path: field.Path): Findings {
  if (value === 'runtime/default' || value === 'docker/default' || value === 'unconfined') return
  if (value.startsWith(localhost)) yield* validateDescendingPath(value.slice(localhost.length), path)
  else yield field.invalid(path, value, 'must be a valid seccomp profile')
}

/** Where a profile is given both as an annotation and as a field, they must match. `path` is that of the spec. */
export function* validateProfilesMatch(
  metadata: Decoded<ObjectMeta>,
  spec: Decoded<PodSpec>,
  path: field.Path,
): Findings {
  const annotations = metadata.annotations ?? {}
  if (Object.keys(annotations).length === 0) return
  const podContext = spec.securityContext ?? {}
  const contextPath = path.child('securityContext')
  yield* matchProfile('seccomp', annotations[seccompPod], podContext.seccompProfile, contextPath)
  for (const [container, at] of containersWithPath(spec, path)) {
    const annotation = annotations[seccompContainer + (container.name ?? '')]
    const seccompProfile = container.securityContext?.seccompProfile
    yield* matchProfile('seccomp', annotation, seccompProfile, at.child('securityContext'))
  }
  if (spec.os?.name === 'windows') return
  for (const [container, at] of containersWithPath(spec, path)) {
    const annotation = annotations[appArmor + (container.name ?? '')]
    const profile = container.securityContext?.appArmorProfile ?? podContext.appArmorProfile
    yield* matchProfile('apparmor', annotation, profile, at.child('securityContext'))
  }
}

function* matchProfile(
  kind: 'seccomp' | 'apparmor',
  annotation: string | undefined,
  profile: Decoded<SeccompProfile | AppArmorProfile> | undefined,
  contextPath: field.Path,
): Findings {
  if (annotation === undefined || profile === undefined) return
  const { type, localhostProfile } = profile
  const path = contextPath.child(kind === 'seccomp' ? 'seccompProfile' : 'appArmorProfile')
  const wrongType = field.forbidden(path.child('type'), `${kind} type in annotation and field must match`)
  if (type === 'Unconfined') {
    if (annotation !== 'unconfined') yield wrongType
  } else if (type === 'RuntimeDefault') {
    const isDocker = kind === 'seccomp' && annotation === 'docker/default'
    if (annotation !== 'runtime/default' && !isDocker) yield wrongType
  } else if (type === 'Localhost') {
    if (!annotation.startsWith(localhost)) yield wrongType
    else if (annotation.slice(localhost.length) !== localhostProfile) {
      const message = `${kind} profile in annotation and field must match`
      yield field.forbidden(path.child('localhostProfile'), message)
    }
  }
}

/** Annotations that a pod keeps as they were. */
export function validateAnnotationChanges(
  annotations: Readonly<Record<string, string>>,
  old: Readonly<Record<string, string>>,
  path: field.Path,
): FieldError[] {
  const errors: FieldError[] = []
  for (const [key, value] of Object.entries(old)) {
    if (annotations[key] === value) continue
    if (key.startsWith(appArmor))
      errors.push(field.forbidden(path.key(key), 'may not remove or update AppArmor annotations'))
    if (key === mirrorAnnotation)
      errors.push(field.forbidden(path.key(key), 'may not remove or update mirror pod annotation'))
  }
  for (const key of Object.keys(annotations)) {
    if (old[key] !== undefined) continue
    if (key.startsWith(appArmor))
      errors.push(field.forbidden(path.key(key), 'may not add AppArmor annotations'))
    if (key === mirrorAnnotation)
      errors.push(field.forbidden(path.key(key), 'may not add mirror pod annotation'))
  }
  return errors
}
