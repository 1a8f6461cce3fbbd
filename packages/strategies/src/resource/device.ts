import type { CounterSet, Device, DeviceAttribute, DeviceCounterConsumption } from '@coxswain/api/resource/v1'
import * as field from '@coxswain/apimachinery/field'
import { deepEqual } from '@coxswain/apimachinery/json'
import { isDNS1123Label, nameIsDNSSubdomain } from '@coxswain/apimachinery/validation'
import { validateNodeSelector } from '../core/node-selector.ts'
import type { Decoded } from '../decoded.ts'
import { type Findings, invalidBecause } from '../shared/reading.ts'
import { validateCapacity } from './capacity.ts'
import { validateBindingConditions } from './claim-status.ts'
import {
  validateDeviceName,
  validateItems,
  validateMap,
  validateQualifiedName,
  validateSet,
} from './names.ts'
import { validateTaint } from './requests.ts'

const maxAttributesAndCapacities = 32
const maxValueLength = 64
const maxTaints = 16
const maxConsumptions = 2
/** The most counters in a set, and in what a device takes of one. */
export const maxCounters = 32
const labelMax = 63

const semver =
  /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-(0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)(\.(0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*))*)?(\+[0-9a-zA-Z-]+(\.[0-9a-zA-Z-]+)*)?$/

/** `placed`: each device specifies its own nodes. */
export function* validateDevice(
  device: Decoded<Device>,
  old: Decoded<Device> | undefined,
  placed: boolean,
  path: field.Path,
): Findings {
  yield* validateDeviceName(device.name ?? '', path.child('name'))
  const count = Object.keys(device.attributes ?? {}).length + Object.keys(device.capacity ?? {}).length
  if (count > maxAttributesAndCapacities)
    yield field.invalid(
      path,
      count,
      `the total number of attributes and capacities must not exceed ${maxAttributesAndCapacities}`,
    )
  yield* validateMap(
    device.attributes,
    { key: validateQualifiedName, value: validateAttribute },
    path.child('attributes'),
  )
  yield* validateMap(
    device.capacity,
    {
      key: validateQualifiedName,
      value: (capacity, at) => validateCapacity(capacity, device.allowMultipleAllocations === true, at),
    },
    path.child('capacity'),
  )
  if (!old || !deepEqual(old.taints, device.taints))
    yield* validateItems(device.taints ?? [], maxTaints, validateTaint, path.child('taints'))
  yield* validateSet(
    device.consumesCounters ?? [],
    maxConsumptions,
    {
      rule: (consumption, at) => validateCounters(consumption, 'counterSet', at),
      keyOf: ({ counterSet }) => counterSet ?? '',
    },
    path.child('consumesCounters'),
  )
  if (placed) yield* validatePlacement(device, path)
  else if ((['nodeName', 'nodeSelector', 'allNodes'] as const).some(name => device[name] !== undefined))
    yield field.invalid(
      path,
      null,
      '`nodeName`, `nodeSelector` and `allNodes` can only be set if `perDeviceNodeSelection` is set to true in the ResourceSlice spec',
    )
  yield* validateBindingConditions(device, path)
}

function* validatePlacement(device: Decoded<Device>, path: field.Path): Findings {
  const set: string[] = []
  const { nodeName, nodeSelector, allNodes } = device
  if (typeof nodeName === 'string') {
    if (nodeName === '') yield field.invalid(path.child('nodeName'), nodeName, 'must not be empty')
    else {
      set.push('`nodeName`')
      yield* invalidBecause(path.child('nodeName'), nodeName, nameIsDNSSubdomain(nodeName, false))
    }
  }
  if (nodeSelector) {
    set.push('`nodeSelector`')
    yield* validateNodeSelector(nodeSelector, path.child('nodeSelector'))
  }
  if (allNodes === true) set.push('`allNodes`')
  if (allNodes === false)
    yield field.invalid(path.child('allNodes'), false, 'must be either unset or set to true')
  const detail =
    'exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required when `perDeviceNodeSelection` is set to true in the ResourceSlice spec'
  if (set.length === 0) yield field.required(path, detail)
  else if (set.length > 1) yield field.invalid(path, `{${set.join(', ')}}`, detail)
}

const attributeTypes = ['bool', 'int', 'string', 'version'] as const

function* validateAttribute(attribute: Decoded<DeviceAttribute>, path: field.Path): Findings {
  const set = attributeTypes.filter(name => attribute[name] !== undefined && attribute[name] !== null)
  if (typeof attribute.string === 'string' && attribute.string.length > maxValueLength)
    yield field.tooLong(path.child('string'), maxValueLength)
  if (typeof attribute.version === 'string') {
    const at = path.child('version')
    if (!semver.test(attribute.version))
      yield field.invalid(at, attribute.version, 'must be a string compatible with semver.org spec 2.0.0')
    if (attribute.version.length > maxValueLength) yield field.tooLong(at, maxValueLength)
  }
  if (set.length === 0) yield field.invalid(path, '', 'exactly one value must be specified')
  else if (set.length > 1) {
    const value = (name: (typeof attributeTypes)[number]) => attribute[name] ?? null
    const printed = field.Printed.inOrder({
      IntValue: value('int'),
      BoolValue: value('bool'),
      StringValue: value('string'),
      VersionValue: value('version'),
      IntValues: null,
      BoolValues: null,
      StringValues: null,
      VersionValues: null,
    })
    yield field.invalid(path, printed, 'exactly one value must be specified')
  }
}

/** A set of counters, or what a device takes of one; `member` has the name of the set. */
export function* validateCounters(
  set: Decoded<CounterSet> & Decoded<DeviceCounterConsumption>,
  member: 'name' | 'counterSet',
  path: field.Path,
): Findings {
  const name = set[member] ?? ''
  if (name === '') yield field.required(path.child(member))
  else yield* invalidBecause(path.child(member), name, isDNS1123Label(name))
  if (Object.keys(set.counters ?? {}).length === 0) yield field.required(path.child('counters'))
  else
    yield* validateMap(
      set.counters,
      {
        max: maxCounters,
        keyMax: labelMax,
        key: (key, at) => invalidBecause(at, key, isDNS1123Label(key)),
      },
      path.child('counters'),
    )
}
