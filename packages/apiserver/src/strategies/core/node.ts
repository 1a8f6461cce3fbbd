import {
  type FieldError,
  field,
  isConfigMapKey,
  isValidCIDRForLegacyField,
  isValidLabelValue,
  nameIsDNSLabel,
  nameIsDNSSubdomain,
  parseCIDR,
  parseQuantity,
  validateLabelName,
  warningsForCIDR,
} from '@coxswain/apimachinery'
import { childObject, isObject, type JsonObject } from '../../json.ts'
import type { Strategy } from '../../registry/strategy.ts'
import { roundAmounts } from '../amounts.ts'

import {
  type Findings,
  invalidBecause,
  listOf,
  numberOf,
  objectOf,
  printed,
  recordOf,
  stringsOf,
  textOf,
} from '../pod/validation/reading.ts'
import { validateResourceQuantity } from '../pod/validation/resources.ts'
import { printNode } from './node-cells.ts'

const taintEffects = ['NoSchedule', 'PreferNoSchedule', 'NoExecute']
const featureName = /^[A-Z][a-zA-Z0-9]*(\/[a-zA-Z][a-zA-Z0-9]*)*$/

export const nodeStrategy: Strategy = {
  statusOnCreate: 'keep',
  default: setDefaults,
  prepareForCreate(object) {
    delete objectOf(object.spec).configSource
    delete objectOf(object.status).config
  },
  prepareForUpdate(object, old) {
    if (objectOf(old.spec).configSource === undefined) delete objectOf(object.spec).configSource
  },
  prepareForStatusUpdate(object, old) {
    if (objectOf(old.status).config === undefined) delete objectOf(object.status).config
  },
  validate: object => validateNode(object),
  validateUpdate: (object, old) => validateNodeUpdate(object, old),
  validateStatusUpdate: (object, old) => validateNodeUpdate(object, old),
  warnings: warnAboutNode,
  statusWarnings: () => [],
  fields: object => ({ 'spec.unschedulable': String(objectOf(object.spec).unschedulable ?? false) }),
  cells: printNode,
}

/** The older single CIDR wins over the list; both say the same afterwards. */
function setDefaults(object: JsonObject): void {
  const spec = childObject(object, 'spec')
  const first = textOf(spec.podCIDR)
  if (first !== '' && stringsOf(spec.podCIDRs)[0] !== first) spec.podCIDRs = [first]
  const [head] = stringsOf(spec.podCIDRs)
  if (head !== undefined) spec.podCIDR = head
  else delete spec.podCIDR
  const status = childObject(object, 'status')
  if (status.allocatable === undefined && isObject(status.capacity))
    status.allocatable = { ...status.capacity }
  for (const member of ['capacity', 'allocatable']) roundAmounts(status, member)
}

function* validateNode(object: JsonObject): Findings {
  const spec = objectOf(object.spec)
  const status = objectOf(object.status)
  yield* validateTaints(listOf(spec.taints))
  yield* validateAmounts(status)
  const swap = objectOf(objectOf(status.nodeInfo).swap)
  if (swap.capacity !== undefined && numberOf(swap.capacity) <= 0) {
    const path = field.Path.of('metadata', 'nodeSwapStatus', 'capacity')
    yield field.invalid(path, swap.capacity, 'must be greater than zero')
  }
  yield* validateFeatures(stringsOf(status.declaredFeatures))
  yield* validatePodCIDRs(stringsOf(spec.podCIDRs))
}

function* validateTaints(taints: readonly JsonObject[]): Findings {
  const seen = new Set<string>()
  for (const [index, taint] of taints.entries()) {
    const path = field.Path.of('metadata', 'taints').index(index)
    const key = textOf(taint.key)
    const value = textOf(taint.value)
    const effect = textOf(taint.effect)
    yield* validateLabelName(key, path.child('key'))
    const messages = isValidLabelValue(value)
    if (messages.length > 0) yield field.invalid(path.child('value'), value, messages.join(';'))
    if (effect === '') yield field.required(path.child('effect'))
    else if (!taintEffects.includes(effect))
      yield field.notSupported(path.child('effect'), effect, taintEffects)
    const identity = `${effect} ${key}`
    if (seen.has(identity)) {
      const shown = { Key: key, Value: value, Effect: effect, TimeAdded: taint.timeAdded ?? null }
      yield field.duplicate(path, printed(shown), 'taints must be unique by key and effect pair')
    }
    seen.add(identity)
  }
}

function* validateAmounts(status: JsonObject): Findings {
  for (const member of ['capacity', 'allocatable']) {
    for (const [name, amount] of Object.entries(recordOf(status[member])))
      yield* validateResourceQuantity(name, parseQuantity(amount), field.Path.of('status', member, name))
  }
}

function* validateFeatures(features: readonly string[]): Findings {
  const path = field.Path.of('status', 'declaredFeatures')
  for (const [index, feature] of features.entries()) {
    const quoted = JSON.stringify(feature)
    if (feature.length > 253) {
      const message = `invalid feature name ${quoted}: must be no more than 253 characters`
      yield field.invalid(path.index(index), feature, message)
    } else if (!featureName.test(feature)) {
      const message = `invalid feature name ${quoted}: must start with an UpperCamelCase segment, with subsequent segments separated by '/' (e.g., MyFeature or MyFeature/mySubFeature), and contain only alphanumeric characters and slashes`
      yield field.invalid(path.index(index), feature, message)
    }
    const next = features[index + 1]
    if (next === undefined) continue
    if (feature === next) yield field.duplicate(path.index(index + 1), next)
    else if (feature > next)
      yield field.invalid(path.index(index + 1), next, 'list must be sorted alphabetically')
  }
}

/** At most one CIDR for each family. */
function* validatePodCIDRs(cidrs: readonly string[]): Findings {
  const path = field.Path.of('spec', 'podCIDRs')
  for (const [index, cidr] of cidrs.entries())
    yield* isValidCIDRForLegacyField(path.index(index), cidr, { strict: false })
  if (cidrs.length < 2) return
  const families: (string | undefined)[] = []
  for (const [index, cidr] of cidrs.entries()) {
    if (parseCIDR(cidr) === undefined) {
      const detail = `invalid PodCIDRs. failed to check with dual stack with error:invalid CIDR[${index}]: <nil> (invalid CIDR address: ${cidr})`
      yield field.internalError(path, detail)
      break
    }
    families.push(cidr.includes(':') ? 'IPv6' : 'IPv4')
  }
  if (cidrs.length > 2 || families.length < 2 || families[0] === families[1])
    yield field.invalid(path, cidrs, 'may specify no more than one CIDR for each IP family')
}

function* validateNodeUpdate(object: JsonObject, old: JsonObject): Findings {
  const spec = objectOf(object.spec)
  const status = objectOf(object.status)
  const before = objectOf(old.spec)
  yield* validateAmounts(status)
  yield* validateFeatures(stringsOf(status.declaredFeatures))
  yield* validateAddresses(listOf(status.addresses))
  if (stringsOf(before.podCIDRs).length > 0) yield* validatePodCIDRsKept(spec, before)
  if (textOf(before.providerID) !== '' && before.providerID !== spec.providerID) {
    const message = 'node updates may not change providerID except from "" to valid'
    yield field.forbidden(field.Path.of('spec', 'providerID'), message)
  }
  if (isObject(spec.configSource))
    yield* validateConfigSource(spec.configSource, field.Path.of('spec', 'configSource'), 'spec')
  for (const member of ['assigned', 'active', 'lastKnownGood']) {
    const source = objectOf(status.config)[member]
    if (isObject(source))
      yield* validateConfigSource(source, field.Path.of('status', 'config', member), 'status')
  }
  yield* validateTaints(listOf(spec.taints))
  if (textOf(spec.externalID) !== textOf(before.externalID))
    yield field.forbidden(field.Path.of('spec', 'externalID'), 'may not be updated')
}

function* validateAddresses(addresses: readonly JsonObject[]): Findings {
  const seen = new Set<string>()
  for (const [index, address] of addresses.entries()) {
    const members = { Type: textOf(address.type), Address: textOf(address.address) }
    const identity = JSON.stringify(members)
    const isRepeated = seen.has(identity)
    seen.add(identity)
    if (!isRepeated) continue
    const shown = printed(members)
    yield field.duplicate(field.Path.of('status', 'addresses').index(index), shown)
  }
}

function* validatePodCIDRsKept(spec: JsonObject, before: JsonObject): Findings {
  const error: FieldError = field.forbidden(
    field.Path.of('spec', 'podCIDRs'),
    'node updates may not change podCIDR except from "" to valid',
  )
  const cidrs = stringsOf(spec.podCIDRs)
  const old = stringsOf(before.podCIDRs)
  if (cidrs.length !== old.length) yield error
  else for (const [index, cidr] of old.entries()) if (cidr !== cidrs[index]) yield error
}

function* validateConfigSource(source: JsonObject, path: field.Path, where: 'spec' | 'status'): Findings {
  if (!isObject(source.configMap)) {
    const shown = printed({ ConfigMap: null })
    yield field.invalid(path, shown, 'exactly one reference subfield must be non-nil')
    return
  }
  const at = path.child('configMap')
  const map = source.configMap
  for (const member of ['uid', 'resourceVersion']) {
    const isSet = textOf(map[member]) !== ''
    if (where === 'spec' && isSet)
      yield field.forbidden(at.child(member), `${member} must not be set in spec`)
    if (where === 'status' && !isSet) yield field.required(at.child(member))
  }
  const rules: readonly [string, (value: string) => string[]][] = [
    ['namespace', value => nameIsDNSLabel(value, false)],
    ['name', value => nameIsDNSSubdomain(value, false)],
    ['kubeletConfigKey', isConfigMapKey],
  ]
  for (const [member, rule] of rules) {
    const value = textOf(map[member])
    if (value === '') yield field.required(at.child(member))
    else yield* invalidBecause(at.child(member), value, rule(value))
  }
}

function warnAboutNode(object: JsonObject): string[] {
  const spec = objectOf(object.spec)
  const warnings: string[] = []
  if (spec.configSource !== undefined) warnings.push('spec.configSource: the feature is removed')
  if (textOf(spec.externalID) !== '')
    warnings.push('spec.externalID: this field is deprecated, and is unused by Kubernetes')
  for (const [index, cidr] of stringsOf(spec.podCIDRs).entries())
    for (const warning of warningsForCIDR(field.Path.of('spec', 'podCIDRs').index(index), cidr))
      warnings.push(warning)
  return warnings
}
