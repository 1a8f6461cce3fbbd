import type { FieldError } from '@coxswain/apimachinery/field'
import * as field from '@coxswain/apimachinery/field'
import { childObject, deepEqual, type JsonObject } from '@coxswain/apimachinery/json'
import { validateImmutableField } from '@coxswain/apimachinery/validation'
import { ageCell, nameCell } from '../shared/cells.ts'
import { type Findings, listOf, numberOf, objectOf, stringsOf, textOf } from '../shared/reading.ts'
import type { Strategy } from '../strategy.ts'

const groupPolicies = ['File', 'None', 'ReadWriteOnceWithFSType']
const lifecycleModes = ['Persistent', 'Ephemeral']
const tokenWarning =
  'spec.serviceAccountTokenInSecrets is unset; if supported by this CSI driver, set to true to prevent possible logging of tokens in volume attributes'

const defaults: Readonly<Record<string, unknown>> = {
  attachRequired: true,
  podInfoOnMount: false,
  storageCapacity: false,
  fsGroupPolicy: 'ReadWriteOnceWithFSType',
  requiresRepublish: false,
  seLinuxMount: false,
}

export const csiDriverStrategy: Strategy = {
  returnsDeleted: true,
  unconditionalUpdate: false,
  default(object) {
    const spec = childObject(object, 'spec')
    for (const [member, value] of Object.entries(defaults)) spec[member] ??= value
    if (stringsOf(spec.volumeLifecycleModes).length === 0) spec.volumeLifecycleModes = ['Persistent']
  },
  prepareForCreate(object) {
    delete objectOf(object.spec).preventPodSchedulingIfMissing
  },
  prepareForUpdate(object, old) {
    const before = objectOf(old.spec)
    if (before.preventPodSchedulingIfMissing === undefined)
      delete objectOf(object.spec).preventPodSchedulingIfMissing
    if (deepEqual(object.spec, old.spec)) return
    const { generation = 0 } = old.metadata as { generation?: number }
    const metadata = object.metadata as JsonObject
    metadata.generation = generation + 1
  },
  validate: object => validateSpec(objectOf(object.spec), field.Path.of('spec')),
  validateUpdate(object, old): FieldError[] {
    const spec = objectOf(object.spec)
    const before = objectOf(old.spec)
    const path = field.Path.of('spec')
    return [
      ...validateImmutableField(spec.attachRequired, before.attachRequired, path.child('attachedRequired')),
      ...validateImmutableField(
        spec.volumeLifecycleModes,
        before.volumeLifecycleModes,
        path.child('volumeLifecycleModes'),
      ),
    ]
  },
  warnings(object, old) {
    const { tokenRequests, serviceAccountTokenInSecrets } = objectOf(object.spec)
    if (listOf(tokenRequests).length === 0 || serviceAccountTokenInSecrets !== undefined) return []
    return old && deepEqual(objectOf(old.spec).tokenRequests, tokenRequests) ? [] : [tokenWarning]
  },
  cells: (object, now) => {
    const spec = objectOf(object.spec)
    const audiences = listOf(spec.tokenRequests).map(({ audience }) => textOf(audience))
    return [
      nameCell(object),
      spec.attachRequired ?? true,
      spec.podInfoOnMount ?? false,
      spec.storageCapacity ?? false,
      spec.tokenRequests === undefined ? '<unset>' : audiences.join(','),
      spec.requiresRepublish ?? false,
      stringsOf(spec.volumeLifecycleModes).join(',') || '<none>',
      ageCell(object, now),
    ]
  },
}

function* validateSpec(spec: JsonObject, path: field.Path): Findings {
  const policy = spec.fsGroupPolicy
  if (policy !== undefined && !groupPolicies.includes(textOf(policy)))
    yield field.notSupported(path.child('fsGroupPolicy'), policy, groupPolicies)
  yield* validateTokenRequests(listOf(spec.tokenRequests), path.child('tokenRequests'))
  for (const mode of stringsOf(spec.volumeLifecycleModes)) {
    if (!lifecycleModes.includes(mode))
      yield field.notSupported(path.child('volumeLifecycleModes'), mode, lifecycleModes)
  }
  const period = spec.nodeAllocatableUpdatePeriodSeconds
  if (period !== undefined && numberOf(period) < 10) {
    const at = path.child('nodeAllocatableUpdatePeriodSeconds')
    yield field.invalid(at, period, 'must be greater than or equal to 10 seconds')
  }
  const inSecrets = spec.serviceAccountTokenInSecrets
  if (inSecrets !== undefined && listOf(spec.tokenRequests).length === 0) {
    const message = 'serviceAccountTokenInSecrets is set but no tokenRequests are specified'
    yield field.invalid(path.child('serviceAccountTokenInSecrets'), inSecrets, message)
  }
}

function* validateTokenRequests(requests: readonly JsonObject[], path: field.Path): Findings {
  const seen = new Set<string>()
  for (const [index, { audience, expirationSeconds }] of requests.entries()) {
    const at = path.index(index)
    if (seen.has(textOf(audience))) {
      yield field.duplicate(at.child('audience'), textOf(audience))
      continue
    }
    seen.add(textOf(audience))
    if (expirationSeconds === undefined) continue
    const seconds = numberOf(expirationSeconds)
    const secondsPath = at.child('expirationSeconds')
    if (seconds < 600)
      yield field.invalid(secondsPath, expirationSeconds, 'may not specify a duration less than 10 minutes')
    if (seconds > 2 ** 32)
      yield field.invalid(
        secondsPath,
        expirationSeconds,
        'may not specify a duration larger than 2^32 seconds',
      )
  }
}
