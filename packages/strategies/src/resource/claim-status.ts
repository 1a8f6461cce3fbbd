import type {
  AllocatedDeviceStatus,
  AllocationResult,
  DeviceAllocationConfiguration,
  DeviceRequestAllocationResult,
  NetworkDeviceData,
  ResourceClaim,
  ResourceClaimConsumerReference,
} from '@coxswain/api/resource/v1'
import * as field from '@coxswain/apimachinery/field'
import { deepEqual } from '@coxswain/apimachinery/json'
import type { Condition } from '@coxswain/apimachinery/meta'
import {
  fieldImmutableMessage,
  isValidInterfaceAddress,
  validateConditions,
  validateLabelName,
} from '@coxswain/apimachinery/validation'
import { validateNodeSelector } from '../core/node-selector.ts'
import type { Decoded } from '../decoded.ts'
import { goValue } from '../shared/go-value.ts'
import { type Findings, printed, requireMembers } from '../shared/reading.ts'
import {
  validateDeviceName,
  validateDriverName,
  validateItems,
  validatePoolName,
  validateSet,
  validateShareID,
} from './names.ts'
import {
  maxConfigs,
  type RequestNames,
  requestNamesOf,
  validateClaimConfiguration,
  validateRaw,
  validateRequestRef,
} from './requests.ts'

const maxReservations = 256
const maxResults = 32
const maxBindingConditions = 4
const maxDeviceConditions = 8
const maxDeviceData = 10 * 1024
const maxInterfaceName = 256
const maxHardwareAddress = 128
const maxAddresses = 16
const configSources = ['FromClaim', 'FromClass']

/** Identifies a device, or a share of one, across drivers. */
function deviceId({ driver, pool, device, shareID }: Decoded<AllocatedDeviceStatus>): string {
  const share = shareID ?? ''
  return `${driver ?? ''}/${pool ?? ''}/${device ?? ''}${share === '' ? '' : `/${share}`}`
}

function printDeviceId({ driver, pool, device, shareID }: Decoded<AllocatedDeviceStatus>): field.Printed {
  return printed({
    Driver: driver ?? '',
    Pool: pool ?? '',
    Device: device ?? '',
    ShareID: shareID ?? '',
  })
}

const allocationOf = (object: Decoded<ResourceClaim>): Decoded<AllocationResult> | undefined => {
  const { allocation } = object.status ?? {}
  return allocation ? allocation : undefined
}

const resultsOf = (object: Decoded<ResourceClaim>): Decoded<DeviceRequestAllocationResult>[] =>
  allocationOf(object)?.devices?.results ?? []

/** Tolerations of what was allocated compare as those of requests do. */
export function defaultResults(object: Decoded<ResourceClaim>): void {
  for (const { tolerations } of resultsOf(object))
    for (const toleration of tolerations ?? []) toleration.operator ||= 'Equal'
}

/** The status of a device is removed together with its allocation. */
export function dropDeallocated(object: Decoded<ResourceClaim>, old: Decoded<ResourceClaim>): void {
  const status = object.status ?? {}
  if (!Array.isArray(status.devices)) return
  const present = new Set(resultsOf(object).map(deviceId))
  const gone = new Set(
    resultsOf(old)
      .map(deviceId)
      .filter(id => !present.has(id)),
  )
  const left = (status.devices ?? []).filter(device => !gone.has(deviceId(device)))
  if (left.length === 0) delete status.devices
  else status.devices = left
}

export function* validateClaimStatus(object: Decoded<ResourceClaim>, old: Decoded<ResourceClaim>): Findings {
  const path = field.Path.of('status')
  const status = object.status ?? {}
  const allocation = allocationOf(object)
  const reservations = status.reservedFor ?? []
  yield* validateSet(
    reservations,
    maxReservations,
    {
      rule: (reservation, at) => requireMembers(reservation, ['resource', 'name', 'uid'], at),
      keyOf: ({ uid }) => uid ?? '',
    },
    path.child('reservedFor'),
  )
  const allocated = new Set(resultsOf(object).map(deviceId))
  yield* validateSet(
    status.devices ?? [],
    -1,
    {
      rule: (device, at) => validateDeviceStatus(device, allocated, at),
      keyOf: deviceId,
      print: printDeviceId,
    },
    path.child('devices'),
  )
  yield* validateReservations(object, old, path.child('reservedFor'))
  const before = allocationOf(old)
  if (!allocation) return
  if (!before)
    yield* validateAllocation(
      allocation,
      requestNamesOf(object.spec?.devices ?? {}),
      path.child('allocation'),
    )
  else if (!deepEqual(allocation, before))
    yield field.invalid(
      path.child('allocation'),
      printed(goValue('resource.AllocationResult', allocation)),
      fieldImmutableMessage,
    )
}

function* validateReservations(
  object: Decoded<ResourceClaim>,
  old: Decoded<ResourceClaim>,
  path: field.Path,
): Findings {
  const now = object.status?.reservedFor ?? []
  if (now.length === 0) return
  if (!allocationOf(object)) {
    yield field.forbidden(path, 'may not be specified when `allocated` is not set')
    return
  }
  if (object.metadata.deletionTimestamp === undefined) return
  const identity = ({ apiGroup, resource, name, uid }: Decoded<ResourceClaimConsumerReference>) =>
    JSON.stringify([apiGroup, resource, name, uid])
  const before = new Set((old.status?.reservedFor ?? []).map(identity))
  if (now.some(reservation => !before.has(identity(reservation))))
    yield field.forbidden(
      path,
      'new entries may not be added while `deallocationRequested` or `deletionTimestamp` are set',
    )
}

function* validateAllocation(
  allocation: Decoded<AllocationResult>,
  names: RequestNames,
  path: field.Path,
): Findings {
  const devices = allocation.devices ?? {}
  const at = path.child('devices')
  yield* validateItems(
    devices.results ?? [],
    maxResults,
    (result, resultPath) => validateResult(result, names, resultPath),
    at.child('results'),
  )
  yield* validateItems(
    devices.config ?? [],
    2 * maxConfigs,
    (config, configPath) => validateAllocatedConfig(config, names, configPath),
    at.child('config'),
  )
  if (allocation.nodeSelector)
    yield* validateNodeSelector(allocation.nodeSelector, path.child('nodeSelector'))
}

function* validateResult(
  result: Decoded<DeviceRequestAllocationResult>,
  names: RequestNames,
  path: field.Path,
): Findings {
  yield* validateRequestRef(result.request ?? '', names, path.child('request'))
  yield* validateDriverName(result.driver ?? '', path.child('driver'))
  yield* validatePoolName(result.pool ?? '', path.child('pool'))
  yield* validateDeviceName(result.device ?? '', path.child('device'))
  yield* validateBindingConditions(result, path)
  yield* validateShareID(result.shareID, path.child('shareID'))
}

function* validateAllocatedConfig(
  config: Decoded<DeviceAllocationConfiguration>,
  names: RequestNames,
  path: field.Path,
): Findings {
  const source = config.source ?? ''
  if (source === '') yield field.required(path.child('source'))
  else if (!configSources.includes(source))
    yield field.notSupported(path.child('source'), source, configSources)
  yield* validateClaimConfiguration(config, names, path)
}

/** Conditions that decide whether a device is ready, and those that say it will not be: both or neither, none twice. */
export function* validateBindingConditions(
  device: Decoded<DeviceRequestAllocationResult>,
  path: field.Path,
): Findings {
  const ready = device.bindingConditions ?? []
  const failed = device.bindingFailureConditions ?? []
  const readyPath = path.child('bindingConditions')
  const failedPath = path.child('bindingFailureConditions')
  yield* validateItems(ready, maxBindingConditions, validateConditionName, readyPath)
  yield* validateItems(failed, maxBindingConditions, validateConditionName, failedPath)
  const readyNames = new Set<string>()
  for (const [index, name] of ready.entries()) {
    if (readyNames.has(name)) yield field.duplicate(readyPath.index(index), name)
    readyNames.add(name)
  }
  const failedNames = new Set<string>()
  for (const [index, name] of failed.entries()) {
    const at = failedPath.index(index)
    if (failedNames.has(name)) yield field.duplicate(at, name)
    failedNames.add(name)
    if (readyNames.has(name))
      yield field.invalid(at, name, 'bindingFailureConditions must not overlap with bindingConditions')
  }
  if (ready.length === 0 && failed.length > 0)
    yield field.invalid(
      readyPath,
      device.bindingConditions ?? null,
      'bindingConditions are required to use bindingFailureConditions',
    )
  if (failed.length === 0 && ready.length > 0)
    yield field.invalid(
      failedPath,
      device.bindingFailureConditions ?? null,
      'bindingFailureConditions are required to use bindingConditions',
    )
}

function* validateConditionName(name: string, path: field.Path): Findings {
  yield* validateLabelName(name, path)
}

function* validateDeviceStatus(
  device: Decoded<AllocatedDeviceStatus>,
  allocated: ReadonlySet<string>,
  path: field.Path,
): Findings {
  yield* validateDriverName(device.driver ?? '', path.child('driver'))
  yield* validatePoolName(device.pool ?? '', path.child('pool'))
  yield* validateDeviceName(device.device ?? '', path.child('device'))
  yield* validateShareID(device.shareID, path.child('shareID'))
  if (!allocated.has(deviceId(device)))
    yield field.invalid(path, printDeviceId(device), 'must be an allocated device in the claim')
  const conditions = device.conditions ?? []
  const at = path.child('conditions')
  if (conditions.length > maxDeviceConditions) yield field.tooMany(at, conditions.length, maxDeviceConditions)
  yield* validateConditions(conditions as unknown as Condition[], at)
  if (device.data !== undefined) yield* validateRaw(device.data, path.child('data'), maxDeviceData)
  if (device.networkData) yield* validateNetworkData(device.networkData, path.child('networkData'))
}

function* validateNetworkData(data: Decoded<NetworkDeviceData>, path: field.Path): Findings {
  if ((data.interfaceName ?? '').length > maxInterfaceName)
    yield field.tooLong(path.child('interfaceName'), maxInterfaceName)
  if ((data.hardwareAddress ?? '').length > maxHardwareAddress)
    yield field.tooLong(path.child('hardwareAddress'), maxHardwareAddress)
  yield* validateSet(
    data.ips ?? [],
    maxAddresses,
    { rule: validateAddress, keyOf: address => address },
    path.child('ips'),
  )
}

function* validateAddress(address: string, path: field.Path): Findings {
  yield* isValidInterfaceAddress(path, address)
}
