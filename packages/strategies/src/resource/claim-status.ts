import * as field from '@coxswain/apimachinery/field'
import { deepEqual, isObject, type JsonObject } from '@coxswain/apimachinery/json'
import type { Condition } from '@coxswain/apimachinery/meta'
import {
  fieldImmutableMessage,
  isValidInterfaceAddress,
  validateConditions,
  validateLabelName,
} from '@coxswain/apimachinery/validation'
import { validateNodeSelector } from '../core/node-selector.ts'
import {
  type Findings,
  listOf,
  objectOf,
  printed,
  requireMembers,
  stringsOf,
  textOf,
} from '../shared/reading.ts'
import { allocationForm } from './claim-form.ts'
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

/** Names a device, or the share of one, over all drivers. */
function deviceId({ driver, pool, device, shareID }: JsonObject): string {
  const share = textOf(shareID)
  return `${textOf(driver)}/${textOf(pool)}/${textOf(device)}${share === '' ? '' : `/${share}`}`
}

function printDeviceId({ driver, pool, device, shareID }: JsonObject): field.Printed {
  return printed({
    Driver: textOf(driver),
    Pool: textOf(pool),
    Device: textOf(device),
    ShareID: textOf(shareID),
  })
}

const allocationOf = (object: JsonObject): JsonObject | undefined => {
  const { allocation } = objectOf(object.status)
  return isObject(allocation) ? allocation : undefined
}

const resultsOf = (object: JsonObject): JsonObject[] =>
  listOf(objectOf(allocationOf(object)?.devices).results)

/** Tolerations of what was allocated compare as those of requests do. */
export function defaultResults(object: JsonObject): void {
  for (const { tolerations } of resultsOf(object))
    for (const toleration of listOf(tolerations)) toleration.operator ||= 'Equal'
}

/** The status of a device that is no longer allocated goes with its allocation. */
export function dropDeallocated(object: JsonObject, old: JsonObject): void {
  const status = objectOf(object.status)
  if (!Array.isArray(status.devices)) return
  const present = new Set(resultsOf(object).map(deviceId))
  const gone = new Set(
    resultsOf(old)
      .map(deviceId)
      .filter(id => !present.has(id)),
  )
  const left = listOf(status.devices).filter(device => !gone.has(deviceId(device)))
  if (left.length === 0) delete status.devices
  else status.devices = left
}

export function* validateClaimStatus(object: JsonObject, old: JsonObject): Findings {
  const path = field.Path.of('status')
  const status = objectOf(object.status)
  const allocation = allocationOf(object)
  const reservations = listOf(status.reservedFor)
  yield* validateSet(
    reservations,
    maxReservations,
    {
      rule: (reservation, at) => requireMembers(reservation, ['resource', 'name', 'uid'], at),
      keyOf: ({ uid }) => textOf(uid),
    },
    path.child('reservedFor'),
  )
  const allocated = new Set(resultsOf(object).map(deviceId))
  yield* validateSet(
    listOf(status.devices),
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
      requestNamesOf(objectOf(objectOf(object.spec).devices)),
      path.child('allocation'),
    )
  else if (!deepEqual(allocation, before))
    yield field.invalid(path.child('allocation'), printed(allocationForm(allocation)), fieldImmutableMessage)
}

function* validateReservations(object: JsonObject, old: JsonObject, path: field.Path): Findings {
  const now = listOf(objectOf(object.status).reservedFor)
  if (now.length === 0) return
  if (!allocationOf(object)) {
    yield field.forbidden(path, 'may not be specified when `allocated` is not set')
    return
  }
  if (objectOf(object.metadata).deletionTimestamp === undefined) return
  const identity = ({ apiGroup, resource, name, uid }: JsonObject) =>
    JSON.stringify([apiGroup, resource, name, uid])
  const before = new Set(listOf(objectOf(old.status).reservedFor).map(identity))
  if (now.some(reservation => !before.has(identity(reservation))))
    yield field.forbidden(
      path,
      'new entries may not be added while `deallocationRequested` or `deletionTimestamp` are set',
    )
}

function* validateAllocation(allocation: JsonObject, names: RequestNames, path: field.Path): Findings {
  const devices = objectOf(allocation.devices)
  const at = path.child('devices')
  yield* validateItems(
    listOf(devices.results),
    maxResults,
    (result, resultPath) => validateResult(result, names, resultPath),
    at.child('results'),
  )
  yield* validateItems(
    listOf(devices.config),
    2 * maxConfigs,
    (config, configPath) => validateAllocatedConfig(config, names, configPath),
    at.child('config'),
  )
  if (isObject(allocation.nodeSelector))
    yield* validateNodeSelector(allocation.nodeSelector, path.child('nodeSelector'))
}

function* validateResult(result: JsonObject, names: RequestNames, path: field.Path): Findings {
  yield* validateRequestRef(textOf(result.request), names, path.child('request'))
  yield* validateDriverName(textOf(result.driver), path.child('driver'))
  yield* validatePoolName(textOf(result.pool), path.child('pool'))
  yield* validateDeviceName(textOf(result.device), path.child('device'))
  yield* validateBindingConditions(result, path)
  yield* validateShareID(result.shareID, path.child('shareID'))
}

function* validateAllocatedConfig(config: JsonObject, names: RequestNames, path: field.Path): Findings {
  const source = textOf(config.source)
  if (source === '') yield field.required(path.child('source'))
  else if (!configSources.includes(source))
    yield field.notSupported(path.child('source'), source, configSources)
  yield* validateClaimConfiguration(config, names, path)
}

/** Conditions that decide whether a device is ready, and those that say it will not be: both or neither, none twice. */
export function* validateBindingConditions(device: JsonObject, path: field.Path): Findings {
  const ready = stringsOf(device.bindingConditions)
  const failed = stringsOf(device.bindingFailureConditions)
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
  device: JsonObject,
  allocated: ReadonlySet<string>,
  path: field.Path,
): Findings {
  yield* validateDriverName(textOf(device.driver), path.child('driver'))
  yield* validatePoolName(textOf(device.pool), path.child('pool'))
  yield* validateDeviceName(textOf(device.device), path.child('device'))
  yield* validateShareID(device.shareID, path.child('shareID'))
  if (!allocated.has(deviceId(device)))
    yield field.invalid(path, printDeviceId(device), 'must be an allocated device in the claim')
  const conditions = listOf(device.conditions)
  const at = path.child('conditions')
  if (conditions.length > maxDeviceConditions) yield field.tooMany(at, conditions.length, maxDeviceConditions)
  yield* validateConditions(conditions as unknown as Condition[], at)
  if (device.data !== undefined) yield* validateRaw(device.data, path.child('data'), maxDeviceData)
  if (isObject(device.networkData)) yield* validateNetworkData(device.networkData, path.child('networkData'))
}

function* validateNetworkData(data: JsonObject, path: field.Path): Findings {
  if (textOf(data.interfaceName).length > maxInterfaceName)
    yield field.tooLong(path.child('interfaceName'), maxInterfaceName)
  if (textOf(data.hardwareAddress).length > maxHardwareAddress)
    yield field.tooLong(path.child('hardwareAddress'), maxHardwareAddress)
  yield* validateSet(
    stringsOf(data.ips),
    maxAddresses,
    { rule: validateAddress, keyOf: address => address },
    path.child('ips'),
  )
}

function* validateAddress(address: string, path: field.Path): Findings {
  yield* isValidInterfaceAddress(path, address)
}
