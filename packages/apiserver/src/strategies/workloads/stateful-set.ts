import { deepEqual, field, nameIsDNSLabel } from '@coxswain/apimachinery'
import { childObject, isObject, type JsonObject } from '../../json.ts'
import type { Strategy } from '../../registry/strategy.ts'
import { validateClaimSpec } from '../pod/validation/claim-template.ts'
import { validatePodTemplate } from '../pod/validation/pod-spec.ts'
import {
  type Findings,
  listOf,
  objectOf,
  printed,
  textOf,
  validateDNSLabel,
} from '../pod/validation/reading.ts'
import { claimWarnings } from '../pod/warnings.ts'
import { workloadWarnings } from './apps.ts'
import { statefulSetCells } from './cells.ts'
import { defaultTemplate, fill, specOf } from './defaults.ts'
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

const specPath = field.Path.of('spec')
const templatePath = field.Path.of('spec', 'template')

/** What may change after creation. */
const mutable = [
  ...['replicas', 'template', 'updateStrategy', 'minReadySeconds', 'ordinals', 'revisionHistoryLimit'],
  'persistentVolumeClaimRetentionPolicy',
]

const counts = ['replicas', 'readyReplicas', 'currentReplicas', 'updatedReplicas', 'availableReplicas']

export const statefulSetStrategy: Strategy = {
  cells: statefulSetCells,
  generation: true,
  validateName: nameIsDNSLabel,
  default(object) {
    const spec = specOf(object)
    fill(spec, { podManagementPolicy: 'OrderedReady', replicas: 1, revisionHistoryLimit: 10 })
    const strategy = childObject(spec, 'updateStrategy')
    strategy.type ??= 'RollingUpdate'
    if (strategy.type === 'RollingUpdate') childObject(strategy, 'rollingUpdate').partition ??= 0
    fill(childObject(spec, 'persistentVolumeClaimRetentionPolicy'), {
      whenDeleted: 'Retain',
      whenScaled: 'Retain',
    })
    for (const claim of listOf(spec.volumeClaimTemplates)) {
      claim.apiVersion ??= 'v1'
      claim.kind ??= 'PersistentVolumeClaim'
      childObject(claim, 'spec').volumeMode ??= 'Filesystem'
      fill(childObject(claim, 'status'), { phase: 'Pending' })
    }
    defaultTemplate(spec)
  },
  /** How many pods may be away at once is not for this release to decide. */
  prepareForCreate: object => dropMaxUnavailable(specOf(object)),
  prepareForUpdate(object, old) {
    if (objectOf(objectOf(specOf(old).updateStrategy).rollingUpdate).maxUnavailable === undefined)
      dropMaxUnavailable(specOf(object))
  },
  *validate(object, _context, old) {
    const spec = specOf(object)
    yield* validateStatefulSet(spec)
    if (!old) yield* validateFixed(spec)
  },
  validateUpdate(object, old) {
    const fixed = (spec: JsonObject) =>
      Object.fromEntries(Object.entries(spec).filter(([key]) => !mutable.includes(key)))
    if (deepEqual(fixed(specOf(object)), fixed(specOf(old)))) return []
    const message =
      "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden"
    return [field.forbidden(specPath, message)]
  },
  validateStatusUpdate(object, old) {
    const status = objectOf(object.status)
    const members = [...counts, 'observedGeneration', 'collisionCount']
    return [
      ...validateReplicaCounts(status, members, counts.slice(1), 'status.readyReplicas'),
      ...validateCollisions(status, objectOf(old.status)),
    ]
  },
  *warnings(object, old) {
    const claims = listOf(specOf(object).volumeClaimTemplates)
    const claimsPath = specPath.child('volumeClaimTemplates')
    yield* workloadWarnings(object, old, templatePath)
    for (const [index, claim] of claims.entries()) {
      const at = claimsPath.index(index)
      yield* claimWarnings(objectOf(claim.spec), old ? at.child('Spec') : at)
    }
    if (Number(specOf(object).revisionHistoryLimit ?? 0) < 0)
      yield 'spec.revisionHistoryLimit: a negative value retains all historical revisions; a value >= 0 is recommended'
  },
}

function dropMaxUnavailable(spec: JsonObject): void {
  const rolling = objectOf(spec.updateStrategy).rollingUpdate
  if (isObject(rolling)) delete rolling.maxUnavailable
}

function* validateStatefulSet(spec: JsonObject): Findings {
  const policy = textOf(spec.podManagementPolicy)
  if (policy === '') yield field.required(specPath.child('podManagementPolicy'))
  else if (policy !== 'OrderedReady' && policy !== 'Parallel')
    yield field.invalid(specPath.child('podManagementPolicy'), policy, "must be 'OrderedReady' or 'Parallel'")
  yield* validateStatefulSetStrategy(objectOf(spec.updateStrategy), specPath.child('updateStrategy'))
  const retention = spec.persistentVolumeClaimRetentionPolicy
  if (isObject(retention)) {
    for (const member of ['whenDeleted', 'whenScaled']) {
      const value = textOf(retention[member])
      if (value !== 'Retain' && value !== 'Delete') {
        const at = specPath.child('persistentVolumeClaimRetentionPolicy', member)
        yield field.notSupported(at, value, ['Retain', 'Delete'])
      }
    }
  }
  yield* validateNonnegatives(spec, ['replicas', 'minReadySeconds'], specPath)
  yield* validateNonnegatives(objectOf(spec.ordinals), ['start'], specPath.child('ordinals'))
  yield* validateSelector(spec, 'statefulset', specPath)
  const selector = selectorOf(spec)
  const template = objectOf(spec.template)
  if (!selector) yield field.invalid(specPath.child('selector'), printed(spec.selector), '')
  else {
    yield* validateSelected(template, selector, templatePath)
    yield* validatePodTemplate(withClaims(spec, template), templatePath)
  }
  yield* validateEndless(template, 'StatefulSet', templatePath)
}

/** The template as its pods will be: with a volume for every claim, and a host name of the set's own. */
function withClaims(spec: JsonObject, template: JsonObject): JsonObject {
  const { subdomain: _, hostname: __, ...podSpec } = objectOf(template.spec)
  const claims = new Set(
    listOf(spec.volumeClaimTemplates).map(claim => textOf(objectOf(claim.metadata).name)),
  )
  if (claims.size > 0) {
    podSpec.volumes = [
      ...Array.from(claims, name => ({ name, persistentVolumeClaim: { claimName: name } })),
      ...listOf(podSpec.volumes).filter(({ name }) => !claims.has(textOf(name))),
    ]
  }
  return { ...template, spec: podSpec }
}

/** What cannot change later, and so is judged once. */
function* validateFixed(spec: JsonObject): Findings {
  for (const [index, claim] of listOf(spec.volumeClaimTemplates).entries()) {
    const at = specPath.child('volumeClaimTemplates').index(index).child('spec')
    yield* validateClaimSpec(objectOf(claim.spec), at)
  }
  const name = textOf(spec.serviceName)
  if (name !== '') yield* validateDNSLabel(name, specPath.child('serviceName'))
}
