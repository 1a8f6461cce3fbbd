import type { CSIDriver, CSIDriverSpec, TokenRequest } from '@coxswain/api/storage/v1'
import type { FieldError } from '@coxswain/apimachinery/field'
import * as field from '@coxswain/apimachinery/field'
import { deepEqual } from '@coxswain/apimachinery/json'
import { validateImmutableField } from '@coxswain/apimachinery/validation'
import type { Decoded } from '../decoded.ts'
import { defineStrategy } from '../define-strategy.ts'
import { ageCell, nameCell } from '../shared/cells.ts'
import { childOf, fill } from '../shared/members.ts'
import { type Findings, numberOf } from '../shared/reading.ts'
import type { Strategy } from '../strategy.ts'

const groupPolicies = ['File', 'None', 'ReadWriteOnceWithFSType']
const lifecycleModes = ['Persistent', 'Ephemeral']
const tokenWarning =
  'spec.serviceAccountTokenInSecrets is unset; if supported by this CSI driver, set to true to prevent possible logging of tokens in volume attributes'

const defaults: Decoded<CSIDriverSpec> = {
  attachRequired: true,
  podInfoOnMount: false,
  storageCapacity: false,
  fsGroupPolicy: 'ReadWriteOnceWithFSType',
  requiresRepublish: false,
  seLinuxMount: false,
}

export const csiDriverStrategy: Strategy = defineStrategy<CSIDriver>({
  returnsDeleted: true,
  unconditionalUpdate: false,
  default(object) {
    const spec = childOf(object, 'spec')
    fill(spec, defaults)
    if ((spec.volumeLifecycleModes ?? []).length === 0) spec.volumeLifecycleModes = ['Persistent']
  },
  prepareForCreate(object) {
    delete object.spec?.preventPodSchedulingIfMissing
  },
  prepareForUpdate(object, old) {
    const before = old.spec ?? {}
    if (before.preventPodSchedulingIfMissing === undefined) delete object.spec?.preventPodSchedulingIfMissing
    if (deepEqual(object.spec, old.spec)) return
    const { generation = 0 } = old.metadata as { generation?: number }
    const metadata = object.metadata
    metadata.generation = generation + 1
  },
  validate: object => validateSpec(object.spec ?? {}, field.Path.of('spec')),
  validateUpdate(object, old): FieldError[] {
    const spec = object.spec ?? {}
    const before = old.spec ?? {}
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
    const { tokenRequests, serviceAccountTokenInSecrets } = object.spec ?? {}
    if ((tokenRequests ?? []).length === 0 || serviceAccountTokenInSecrets !== undefined) return []
    return old && deepEqual(old.spec?.tokenRequests, tokenRequests) ? [] : [tokenWarning]
  },
  cells: (object, now) => {
    const spec = object.spec ?? {}
    const audiences = (spec.tokenRequests ?? []).map(({ audience }) => audience ?? '')
    return {
      Name: nameCell(object),
      AttachRequired: spec.attachRequired ?? true,
      PodInfoOnMount: spec.podInfoOnMount ?? false,
      StorageCapacity: spec.storageCapacity ?? false,
      TokenRequests: spec.tokenRequests === undefined ? '<unset>' : audiences.join(','),
      RequiresRepublish: spec.requiresRepublish ?? false,
      Modes: (spec.volumeLifecycleModes ?? []).join(',') || '<none>',
      Age: ageCell(object, now),
    }
  },
})

function* validateSpec(spec: Decoded<CSIDriverSpec>, path: field.Path): Findings {
  const policy = spec.fsGroupPolicy
  if (policy !== undefined && !groupPolicies.includes(policy ?? ''))
    yield field.notSupported(path.child('fsGroupPolicy'), policy, groupPolicies)
  yield* validateTokenRequests(spec.tokenRequests ?? [], path.child('tokenRequests'))
  for (const mode of spec.volumeLifecycleModes ?? []) {
    if (!lifecycleModes.includes(mode))
      yield field.notSupported(path.child('volumeLifecycleModes'), mode, lifecycleModes)
  }
  const period = spec.nodeAllocatableUpdatePeriodSeconds
  if (period !== undefined && numberOf(period) < 10) {
    const at = path.child('nodeAllocatableUpdatePeriodSeconds')
    yield field.invalid(at, period, 'must be greater than or equal to 10 seconds')
  }
  const inSecrets = spec.serviceAccountTokenInSecrets
  if (inSecrets !== undefined && (spec.tokenRequests ?? []).length === 0) {
    const message = 'serviceAccountTokenInSecrets is set but no tokenRequests are specified'
    yield field.invalid(path.child('serviceAccountTokenInSecrets'), inSecrets, message)
  }
}

function* validateTokenRequests(requests: readonly Decoded<TokenRequest>[], path: field.Path): Findings {
  const seen = new Set<string>()
  for (const [index, { audience, expirationSeconds }] of requests.entries()) {
    const at = path.index(index)
    if (seen.has(audience ?? '')) {
      yield field.duplicate(at.child('audience'), audience ?? '')
      continue
    }
    seen.add(audience ?? '')
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
