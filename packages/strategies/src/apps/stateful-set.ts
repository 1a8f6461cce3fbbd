import type { StatefulSet, StatefulSetSpec } from '@coxswain/api/apps/v1'
import type { PodTemplateSpec } from '@coxswain/api/core/v1'
import * as field from '@coxswain/apimachinery/field'
import { deepEqual } from '@coxswain/apimachinery/json'
import { nameIsDNSLabel } from '@coxswain/apimachinery/validation'
import { validateClaimSpec } from '../core/pod/validation/claim-template.ts'
import { validatePodTemplate } from '../core/pod/validation/pod-spec.ts'
import { claimWarnings } from '../core/pod/warnings.ts'
import type { Decoded } from '../decoded.ts'
import { defineStrategy } from '../define-strategy.ts'
import { ageCell, nameCell } from '../shared/cells.ts'
import { childOf, fill } from '../shared/members.ts'
import { type Findings, numberOf, printed, validateDNSLabel } from '../shared/reading.ts'
import { containerCells } from '../shared/workload-cells.ts'
import type { Strategy, TableCells } from '../strategy.ts'
import { defaultTemplate, specOf } from './defaults.ts'
import { validateStatefulSetStrategy } from './rollout.ts'
import {
  selectorOf,
  validateCollisions,
  validateEndless,
  validateNonnegatives,
  validateReplicaCounts,
  validateSelected,
  validateSelector,
} from './template.ts'
import { workloadWarnings } from './warnings.ts'

const specPath = field.Path.of('spec')
const templatePath = field.Path.of('spec', 'template')

/** What may change after creation. */
const mutable = [
  ...['replicas', 'template', 'updateStrategy', 'minReadySeconds', 'ordinals', 'revisionHistoryLimit'],
  'persistentVolumeClaimRetentionPolicy',
]

const counts = [
  'replicas',
  'readyReplicas',
  'currentReplicas',
  'updatedReplicas',
  'availableReplicas',
] as const

export const statefulSetStrategy: Strategy = defineStrategy<StatefulSet>({
  cells: printStatefulSet,
  generation: true,
  validateName: nameIsDNSLabel,
  default(object) {
    const spec = specOf(object)
    fill(spec, { podManagementPolicy: 'OrderedReady', replicas: 1, revisionHistoryLimit: 10 })
    const strategy = childOf(spec, 'updateStrategy')
    strategy.type ??= 'RollingUpdate'
    if (strategy.type === 'RollingUpdate') childOf(strategy, 'rollingUpdate').partition ??= 0
    fill(childOf(spec, 'persistentVolumeClaimRetentionPolicy'), {
      whenDeleted: 'Retain',
      whenScaled: 'Retain',
    })
    for (const claim of spec.volumeClaimTemplates ?? []) {
      claim.apiVersion ??= 'v1'
      claim.kind ??= 'PersistentVolumeClaim'
      childOf(claim, 'spec').volumeMode ??= 'Filesystem'
      fill(childOf(claim, 'status'), { phase: 'Pending' })
    }
    defaultTemplate(spec)
  },
  /** `maxUnavailable` is behind a feature gate that is off in this release. */
  prepareForCreate: object => dropMaxUnavailable(specOf(object)),
  prepareForUpdate(object, old) {
    if (specOf(old).updateStrategy?.rollingUpdate?.maxUnavailable === undefined)
      dropMaxUnavailable(specOf(object))
  },
  *validate(object, _context, old) {
    const spec = specOf(object)
    yield* validateStatefulSet(spec)
    if (!old) yield* validateFixed(spec)
  },
  validateUpdate(object, old) {
    const fixed = (spec: Decoded<StatefulSetSpec>) =>
      Object.fromEntries(Object.entries(spec).filter(([key]) => !mutable.includes(key)))
    if (deepEqual(fixed(specOf(object)), fixed(specOf(old)))) return []
    const message =
      "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden"
    return [field.forbidden(specPath, message)]
  },
  validateStatusUpdate(object, old) {
    const status = object.status ?? {}
    const members = [...counts, 'observedGeneration', 'collisionCount'] as const
    return [
      ...validateReplicaCounts(status, members, counts.slice(1), 'status.readyReplicas'),
      ...validateCollisions(status, old.status ?? {}),
    ]
  },
  *warnings(object, old) {
    const claims = specOf(object).volumeClaimTemplates ?? []
    const claimsPath = specPath.child('volumeClaimTemplates')
    yield* workloadWarnings(object, old, templatePath)
    for (const [index, claim] of claims.entries()) {
      const at = claimsPath.index(index)
      yield* claimWarnings(claim.spec ?? {}, old ? at.child('Spec') : at)
    }
    if (Number(specOf(object).revisionHistoryLimit ?? 0) < 0)
      yield 'spec.revisionHistoryLimit: a negative value retains all historical revisions; a value >= 0 is recommended'
  },
})

function dropMaxUnavailable(spec: Decoded<StatefulSetSpec>): void {
  const rolling = spec.updateStrategy?.rollingUpdate
  if (rolling) delete rolling.maxUnavailable
}

function* validateStatefulSet(spec: Decoded<StatefulSetSpec>): Findings {
  const policy = spec.podManagementPolicy ?? ''
  if (policy === '') yield field.required(specPath.child('podManagementPolicy'))
  else if (policy !== 'OrderedReady' && policy !== 'Parallel')
    yield field.invalid(specPath.child('podManagementPolicy'), policy, "must be 'OrderedReady' or 'Parallel'")
  yield* validateStatefulSetStrategy(spec.updateStrategy ?? {}, specPath.child('updateStrategy'))
  const retention = spec.persistentVolumeClaimRetentionPolicy
  if (retention) {
    for (const member of ['whenDeleted', 'whenScaled'] as const) {
      const value = retention[member] ?? ''
      if (value !== 'Retain' && value !== 'Delete') {
        const at = specPath.child('persistentVolumeClaimRetentionPolicy', member)
        yield field.notSupported(at, value, ['Retain', 'Delete'])
      }
    }
  }
  yield* validateNonnegatives(spec, ['replicas', 'minReadySeconds'], specPath)
  yield* validateNonnegatives(spec.ordinals ?? {}, ['start'], specPath.child('ordinals'))
  yield* validateSelector(spec, 'statefulset', specPath)
  const selector = selectorOf(spec)
  const template = spec.template ?? {}
  if (!selector) yield field.invalid(specPath.child('selector'), printed(spec.selector), '')
  else {
    yield* validateSelected(template, selector, templatePath)
    yield* validatePodTemplate(withClaims(spec, template), templatePath)
  }
  yield* validateEndless(template, 'StatefulSet', templatePath)
}

/** The template as its Pods will be: with a volume for every claim template, and the host name of the Pod. */
function withClaims(
  spec: Decoded<StatefulSetSpec>,
  template: Decoded<PodTemplateSpec>,
): Decoded<PodTemplateSpec> {
  const { subdomain: _, hostname: __, ...podSpec } = template.spec ?? {}
  const claims = new Set((spec.volumeClaimTemplates ?? []).map(claim => claim.metadata?.name ?? ''))
  if (claims.size > 0) {
    podSpec.volumes = [
      ...Array.from(claims, name => ({ name, persistentVolumeClaim: { claimName: name } })),
      ...(podSpec.volumes ?? []).filter(({ name }) => !claims.has(name ?? '')),
    ]
  }
  return { ...template, spec: podSpec }
}

/** Rules for fields that are immutable, so they are validated only on create. */
function* validateFixed(spec: Decoded<StatefulSetSpec>): Findings {
  for (const [index, claim] of (spec.volumeClaimTemplates ?? []).entries()) {
    const at = specPath.child('volumeClaimTemplates').index(index).child('spec')
    yield* validateClaimSpec(claim.spec ?? {}, at)
  }
  const name = spec.serviceName ?? ''
  if (name !== '') yield* validateDNSLabel(name, specPath.child('serviceName'))
}

function printStatefulSet(object: Decoded<StatefulSet>, now: number): TableCells {
  const spec = object.spec ?? {}
  return {
    Name: nameCell(object),
    Ready: `${numberOf(object.status?.readyReplicas)}/${numberOf(spec.replicas)}`,
    Age: ageCell(object, now),
    ...containerCells(spec.template),
  }
}
