import type { Device, ResourcePool, ResourceSlice, ResourceSliceSpec } from '@coxswain/api/resource/v1'
import * as field from '@coxswain/apimachinery/field'
import { formatTime } from '@coxswain/apimachinery/time'
import { nameIsDNSSubdomain, validateImmutableField } from '@coxswain/apimachinery/validation'
import { validateNodeSelector } from '../core/node-selector.ts'
import type { Decoded } from '../decoded.ts'
import { defineStrategy } from '../define-strategy.ts'
import { ageCell, nameCell } from '../shared/cells.ts'
import { goValue } from '../shared/go-value.ts'
import { type Findings, invalidBecause, numberOf, printed } from '../shared/reading.ts'
import type { Strategy } from '../strategy.ts'
import { validateCounters, validateDevice } from './device.ts'
import { validateDriverName, validatePoolName, validateSet } from './names.ts'

const maxDevices = 128
/** When a device has taints or takes counters. */
const maxAdvancedDevices = 64
const maxCounterSets = 8

const devicesOf = (object: Decoded<ResourceSlice>): Decoded<Device>[] => object.spec?.devices ?? []

export const resourceSliceStrategy: Strategy = defineStrategy<ResourceSlice>({
  returnsDeleted: true,
  generation: true,
  prepareForCreate(object, { clock }) {
    dropDisabled(object, undefined)
    stampTaints(object, clock.now())
  },
  prepareForUpdate(object, old, { clock }) {
    dropDisabled(object, old)
    stampTaints(object, clock.now())
  },
  validate: (object, _context, old) => validateSlice(object.spec ?? {}, old),
  warnings(object) {
    const driver = object.spec?.driver ?? ''
    if (driver === driver.toLowerCase()) return []
    return [
      `spec.driver: driver names should be lowercase; ${JSON.stringify(driver)} contains uppercase characters`,
    ]
  },
  fields: object => ({
    'spec.nodeName': object.spec?.nodeName ?? '',
    'spec.driver': object.spec?.driver ?? '',
  }),
  cells(object, now) {
    const { nodeName, driver, pool } = object.spec ?? {}
    return {
      Name: nameCell(object),
      Node: nodeName ?? '',
      Driver: driver ?? '',
      Pool: pool?.name ?? '',
      Age: ageCell(object, now),
    }
  },
})

/** A taint counts from when it was first seen. */
function stampTaints(object: Decoded<ResourceSlice>, now: number): void {
  for (const device of devicesOf(object))
    for (const taint of device.taints ?? []) taint.timeAdded ??= formatTime(now)
}

const listAttributes = ['bools', 'ints', 'strings', 'versions'] as const

/** Alpha fields are dropped, unless the stored object has them. */
function dropDisabled(object: Decoded<ResourceSlice>, old: Decoded<ResourceSlice> | undefined): void {
  const hasLists = (device: Decoded<Device>) =>
    Object.values(device.attributes ?? {}).some(value =>
      listAttributes.some(name => value?.[name] !== undefined),
    )
  const before = old ? devicesOf(old) : []
  const keepsLists = before.some(hasLists)
  const keepsMappings = before.some(device => device.nodeAllocatableResourceMappings !== undefined)
  for (const device of devicesOf(object)) {
    if (!keepsMappings) delete device.nodeAllocatableResourceMappings
    if (keepsLists) continue
    for (const value of Object.values(device.attributes ?? {}))
      if (value) for (const name of listAttributes) delete value[name]
  }
}

function* validateSlice(spec: Decoded<ResourceSliceSpec>, old: Decoded<ResourceSlice> | undefined): Findings {
  const path = field.Path.of('spec')
  const before = old && (old.spec ?? {})
  yield* validateDriverName(spec.driver ?? '', path.child('driver'))
  yield* validatePool(spec.pool ?? {}, path.child('pool'))
  if (before) {
    const pool = spec.pool?.name ?? ''
    yield* validateImmutableField(pool, before.pool?.name ?? '', path.child('pool', 'name'))
    yield* validateImmutableField(spec.driver ?? '', before.driver ?? '', path.child('driver'))
    yield* validateImmutableField(spec.nodeName ?? null, before.nodeName ?? null, path.child('nodeName'))
  }
  yield* validateNodes(spec, path)
  const devices = spec.devices ?? []
  if (Array.isArray(spec.sharedCounters) && Array.isArray(spec.devices))
    yield field.invalid(path, '', 'only one of `sharedCounters` or `devices` is allowed')
  const isAdvanced = devices.some(
    ({ taints, consumesCounters }) => (taints ?? []).length > 0 || (consumesCounters ?? []).length > 0,
  )
  const known = Map.groupBy(before?.devices ?? [], ({ name }) => name)
  yield* validateSet(
    devices,
    isAdvanced ? maxAdvancedDevices : maxDevices,
    {
      rule: (device, at) =>
        validateDevice(device, known.get(device.name)?.[0], spec.perDeviceNodeSelection === true, at),
      keyOf: ({ name }) => name ?? '',
    },
    path.child('devices'),
  )
  yield* validateSet(
    spec.sharedCounters ?? [],
    maxCounterSets,
    { rule: (set, at) => validateCounters(set, 'name', at), keyOf: ({ name }) => name ?? '' },
    path.child('sharedCounters'),
  )
}

function* validatePool(pool: Decoded<ResourcePool>, path: field.Path): Findings {
  yield* validatePoolName(pool.name ?? '', path.child('name'))
  const count = numberOf(pool.resourceSliceCount)
  const generation = numberOf(pool.generation)
  if (count <= 0) yield field.invalid(path.child('resourceSliceCount'), count, 'must be greater than zero')
  if (generation < 0)
    yield field.invalid(path.child('generation'), generation, 'must be greater than or equal to zero')
}

/** A slice specifies the nodes of its devices in exactly one way. */
function* validateNodes(spec: Decoded<ResourceSliceSpec>, path: field.Path): Findings {
  const set: string[] = []
  const { nodeName, nodeSelector } = spec
  if (typeof nodeName === 'string') {
    const at = path.child('nodeName')
    if (nodeName === '')
      yield field.invalid(at, nodeName, 'must be either unset or set to a non-empty string')
    else {
      set.push('`nodeName`')
      yield* invalidBecause(at, nodeName, nameIsDNSSubdomain(nodeName, false))
    }
  }
  if (nodeSelector) {
    const at = path.child('nodeSelector')
    const terms = nodeSelector.nodeSelectorTerms ?? []
    set.push('`nodeSelector`')
    yield* validateNodeSelector(nodeSelector, at)
    if (terms.length !== 1)
      yield field.invalid(
        at.child('nodeSelectorTerms'),
        printed(terms.map(term => goValue('core.NodeSelectorTerm', term))),
        'must have exactly one node selector term',
      )
  }
  for (const name of ['allNodes', 'perDeviceNodeSelection'] as const) {
    if (spec[name] === true) set.push(`\`${name}\``)
    if (spec[name] === false)
      yield field.invalid(path.child(name), false, 'must be either unset or set to true')
  }
  const detail = 'exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required'
  if (set.length === 0) yield field.required(path, detail)
  else if (set.length > 1)
    yield field.invalid(path, `{${set.join(', ')}}`, `${detail}, but multiple fields are set`)
}
