import type {
  ConfigMapNodeConfigSource,
  Node,
  NodeAddress,
  NodeConfigSource,
  NodeSpec,
  NodeStatus,
  Taint,
} from '@coxswain/api/core/v1'
import type { FieldError } from '@coxswain/apimachinery/field'
import * as field from '@coxswain/apimachinery/field'
import { parseQuantity } from '@coxswain/apimachinery/quantity'
import {
  isConfigMapKey,
  isValidCIDRForLegacyField,
  isValidLabelValue,
  nameIsDNSLabel,
  nameIsDNSSubdomain,
  parseCIDR,
  validateLabelName,
  warningsForCIDR,
} from '@coxswain/apimachinery/validation'
import type { Decoded } from '../decoded.ts'
import { defineStrategy } from '../define-strategy.ts'
import { goValue } from '../shared/go-value.ts'
import { childOf } from '../shared/members.ts'
import { type Findings, invalidBecause, numberOf, printed } from '../shared/reading.ts'
import type { Strategy } from '../strategy.ts'
import { printNode } from './node-cells.ts'
import { validateResourceQuantity } from './pod/validation/resources.ts'

const taintEffects = ['NoSchedule', 'PreferNoSchedule', 'NoExecute']
const featureName = /^[A-Z][a-zA-Z0-9]*(\/[a-zA-Z][a-zA-Z0-9]*)*$/

export const nodeStrategy: Strategy = defineStrategy<Node>({
  statusOnCreate: 'keep',
  default: setDefaults,
  prepareForCreate(object) {
    delete object.spec?.configSource
    delete object.status?.config
  },
  prepareForUpdate(object, old) {
    if (old.spec?.configSource === undefined) delete object.spec?.configSource
  },
  prepareForStatusUpdate(object, old) {
    if (old.status?.config === undefined) delete object.status?.config
  },
  validate: object => validateNode(object),
  validateUpdate: (object, old) => validateNodeUpdate(object, old),
  validateStatusUpdate: (object, old) => validateNodeUpdate(object, old),
  warnings: warnAboutNode,
  statusWarnings: () => [],
  fields: object => ({ 'spec.unschedulable': String(object.spec?.unschedulable ?? false) }),
  cells: printNode,
})

/** The older single CIDR wins over the list; both say the same afterwards. */
function setDefaults(object: Decoded<Node>): void {
  const spec = childOf(object, 'spec')
  const first = spec.podCIDR ?? ''
  if (first !== '' && (spec.podCIDRs ?? [])[0] !== first) spec.podCIDRs = [first]
  const [head] = spec.podCIDRs ?? []
  if (head !== undefined) spec.podCIDR = head
  else delete spec.podCIDR
  const status = childOf(object, 'status')
  if (status.allocatable === undefined && status.capacity) status.allocatable = { ...status.capacity }
}

function* validateNode(object: Decoded<Node>): Findings {
  const spec = object.spec ?? {}
  const status = object.status ?? {}
  yield* validateTaints(spec.taints ?? [])
  yield* validateAmounts(status)
  const swap = status.nodeInfo?.swap ?? {}
  if (swap.capacity !== undefined && numberOf(swap.capacity) <= 0) {
    const path = field.Path.of('metadata', 'nodeSwapStatus', 'capacity')
    yield field.invalid(path, swap.capacity, 'must be greater than zero')
  }
  yield* validateFeatures(status.declaredFeatures ?? [])
  yield* validatePodCIDRs(spec.podCIDRs ?? [])
}

function* validateTaints(taints: readonly Decoded<Taint>[]): Findings {
  const seen = new Set<string>()
  for (const [index, taint] of taints.entries()) {
    const path = field.Path.of('metadata', 'taints').index(index)
    const key = taint.key ?? ''
    const value = taint.value ?? ''
    const effect = taint.effect ?? ''
    yield* validateLabelName(key, path.child('key'))
    const messages = isValidLabelValue(value)
    if (messages.length > 0) yield field.invalid(path.child('value'), value, messages.join(';'))
    if (effect === '') yield field.required(path.child('effect'))
    else if (!taintEffects.includes(effect))
      yield field.notSupported(path.child('effect'), effect, taintEffects)
    const identity = `${effect} ${key}`
    if (seen.has(identity)) {
      const shown = printed(goValue('core.Taint', taint))
      yield field.duplicate(path, shown, 'taints must be unique by key and effect pair')
    }
    seen.add(identity)
  }
}

function* validateAmounts(status: Decoded<NodeStatus>): Findings {
  for (const member of ['capacity', 'allocatable'] as const) {
    for (const [name, amount] of Object.entries(status[member] ?? {}))
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
    yield* isValidCIDRForLegacyField(path.index(index), cidr, { strict: true })
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

function* validateNodeUpdate(object: Decoded<Node>, old: Decoded<Node>): Findings {
  const spec = object.spec ?? {}
  const status = object.status ?? {}
  const before = old.spec ?? {}
  yield* validateAmounts(status)
  yield* validateFeatures(status.declaredFeatures ?? [])
  yield* validateAddresses(status.addresses ?? [])
  if ((before.podCIDRs ?? []).length > 0) yield* validatePodCIDRsKept(spec, before)
  if ((before.providerID ?? '') !== '' && before.providerID !== spec.providerID) {
    const message = 'node updates may not change providerID except from "" to valid'
    yield field.forbidden(field.Path.of('spec', 'providerID'), message)
  }
  if (spec.configSource)
    yield* validateConfigSource(spec.configSource, field.Path.of('spec', 'configSource'), 'spec')
  for (const member of ['assigned', 'active', 'lastKnownGood'] as const) {
    const source = status.config?.[member]
    if (source) yield* validateConfigSource(source, field.Path.of('status', 'config', member), 'status')
  }
  yield* validateTaints(spec.taints ?? [])
  if ((spec.externalID ?? '') !== (before.externalID ?? ''))
    yield field.forbidden(field.Path.of('spec', 'externalID'), 'may not be updated')
}

function* validateAddresses(addresses: readonly Decoded<NodeAddress>[]): Findings {
  const seen = new Set<string>()
  for (const [index, address] of addresses.entries()) {
    const members = goValue('core.NodeAddress', address)
    const identity = JSON.stringify(members)
    const isRepeated = seen.has(identity)
    seen.add(identity)
    if (!isRepeated) continue
    const shown = printed(members)
    yield field.duplicate(field.Path.of('status', 'addresses').index(index), shown)
  }
}

function* validatePodCIDRsKept(spec: Decoded<NodeSpec>, before: Decoded<NodeSpec>): Findings {
  const error: FieldError = field.forbidden(
    field.Path.of('spec', 'podCIDRs'),
    'node updates may not change podCIDR except from "" to valid',
  )
  const cidrs = spec.podCIDRs ?? []
  const old = before.podCIDRs ?? []
  if (cidrs.length !== old.length) yield error
  else for (const [index, cidr] of old.entries()) if (cidr !== cidrs[index]) yield error
}

function* validateConfigSource(
  source: Decoded<NodeConfigSource>,
  path: field.Path,
  where: 'spec' | 'status',
): Findings {
  if (!source.configMap) {
    const shown = printed(goValue('core.NodeConfigSource', {}))
    yield field.invalid(path, shown, 'exactly one reference subfield must be non-nil')
    return
  }
  const at = path.child('configMap')
  const map = source.configMap
  for (const member of ['uid', 'resourceVersion'] as const) {
    const isSet = (map[member] ?? '') !== ''
    if (where === 'spec' && isSet)
      yield field.forbidden(at.child(member), `${member} must not be set in spec`)
    if (where === 'status' && !isSet) yield field.required(at.child(member))
  }
  const rules: readonly [keyof Decoded<ConfigMapNodeConfigSource>, (value: string) => string[]][] = [
    ['namespace', value => nameIsDNSLabel(value, false)],
    ['name', value => nameIsDNSSubdomain(value, false)],
    ['kubeletConfigKey', isConfigMapKey],
  ]
  for (const [member, rule] of rules) {
    const value = map[member] ?? ''
    if (value === '') yield field.required(at.child(member))
    else yield* invalidBecause(at.child(member), value, rule(value))
  }
}

function warnAboutNode(object: Decoded<Node>): string[] {
  const spec = object.spec ?? {}
  const warnings: string[] = []
  if (spec.configSource !== undefined) warnings.push('spec.configSource: the feature is removed')
  if ((spec.externalID ?? '') !== '')
    warnings.push('spec.externalID: this field is deprecated, and is unused by Kubernetes')
  for (const [index, cidr] of (spec.podCIDRs ?? []).entries())
    for (const warning of warningsForCIDR(field.Path.of('spec', 'podCIDRs').index(index), cidr))
      warnings.push(warning)
  return warnings
}
