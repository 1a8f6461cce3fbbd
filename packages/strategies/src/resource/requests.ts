import type {
  DeviceClaim,
  DeviceClaimConfiguration,
  DeviceConfiguration,
  DeviceConstraint,
  DeviceRequest,
  DeviceSelector,
  DeviceSubRequest,
  DeviceTaint,
  DeviceToleration,
  ExactDeviceRequest,
} from '@coxswain/api/resource/v1'
import * as field from '@coxswain/apimachinery/field'
import { isObject, writeJson } from '@coxswain/apimachinery/json'
import {
  isDNS1123Label,
  isDNS1123Subdomain,
  isValidLabelValue,
  validateLabelName,
} from '@coxswain/apimachinery/validation'
import { encodeText } from '@coxswain/kit'
import type { Decoded } from '../decoded.ts'
import { type Findings, invalidBecause, numberOf } from '../shared/reading.ts'
import { findSelectorProblem } from './device-selector.ts'
import { validateDriverName, validateFullyQualifiedName, validateItems, validateSet } from './names.ts'

/** The most of each that a claim may have. */
export const maxRequests = 32
export const maxConfigs = 32
const maxConstraints = 32
const maxSelectors = 32
const maxAlternatives = 8
const maxExpression = 10 * 1024
const maxParameters = 10 * 1024
const effects = ['NoExecute', 'NoSchedule', 'None']
const modes = ['All', 'ExactCount']

/** The names of requests, with those of their alternatives. */
export type RequestNames = ReadonlyMap<string, ReadonlySet<string>>

export function requestNamesOf(devices: Decoded<DeviceClaim>): RequestNames {
  return new Map(
    (devices.requests ?? []).map(request => [
      request.name ?? '',
      new Set((request.firstAvailable ?? []).map(({ name }) => name ?? '')),
    ]),
  )
}

/** Fills in how many devices a request is for and how tolerations compare. */
export function defaultRequests(devices: Decoded<DeviceClaim>): void {
  for (const request of devices.requests ?? []) {
    if (request.exactly) defaultMode(request.exactly)
    for (const alternative of request.firstAvailable ?? []) defaultMode(alternative)
  }
}

function defaultMode(request: Decoded<ExactDeviceRequest>): void {
  request.allocationMode ||= 'ExactCount'
  if (request.allocationMode === 'ExactCount') request.count ||= 1
  for (const toleration of request.tolerations ?? []) toleration.operator ||= 'Equal'
}

/** The devices that a claim asks for. */
export function* validateDeviceClaim(devices: Decoded<DeviceClaim>, path: field.Path): Findings {
  const names = requestNamesOf(devices)
  yield* validateSet(
    devices.requests ?? [],
    maxRequests,
    { rule: validateRequest, keyOf: ({ name }) => name ?? '' },
    path.child('requests'),
  )
  yield* validateItems(
    devices.constraints ?? [],
    maxConstraints,
    (constraint, at) => validateConstraint(constraint, names, at),
    path.child('constraints'),
  )
  yield* validateItems(
    devices.config ?? [],
    maxConfigs,
    (config, at) => validateClaimConfiguration(config, names, at),
    path.child('config'),
  )
}

const choice = 'exactly one of `exactly` or `firstAvailable` is required'

function* validateRequest(request: Decoded<DeviceRequest>, path: field.Path): Findings {
  yield* invalidBecause(path.child('name'), request.name ?? '', isDNS1123Label(request.name ?? ''))
  const alternatives = request.firstAvailable ?? []
  if (!request.exactly && alternatives.length === 0) yield field.required(path, choice)
  else if (request.exactly && alternatives.length > 0)
    yield field.invalid(path, null, `${choice}, but multiple fields are set`)
  else if (request.exactly) yield* validateExactRequest(request.exactly, path.child('exactly'))
  else
    yield* validateSet(
      alternatives,
      maxAlternatives,
      { rule: validateAlternative, keyOf: ({ name }) => name ?? '' },
      path.child('firstAvailable'),
    )
}

function* validateAlternative(request: Decoded<DeviceSubRequest>, path: field.Path): Findings {
  yield* invalidBecause(path.child('name'), request.name ?? '', isDNS1123Label(request.name ?? ''))
  yield* validateExactRequest(request, path)
}

function* validateExactRequest(request: Decoded<ExactDeviceRequest>, path: field.Path): Findings {
  const deviceClass = request.deviceClassName ?? ''
  const classPath = path.child('deviceClassName')
  if (deviceClass === '') yield field.required(classPath)
  else yield* invalidBecause(classPath, deviceClass, isDNS1123Subdomain(deviceClass))
  yield* validateSelectors(request.selectors, path.child('selectors'))
  yield* validateMode(request.allocationMode ?? '', numberOf(request.count), path)
  for (const [index, toleration] of (request.tolerations ?? []).entries())
    yield* validateToleration(toleration, path.child('tolerations').index(index))
}

function* validateMode(mode: string, count: number, path: field.Path): Findings {
  if (!modes.includes(mode)) yield field.notSupported(path.child('allocationMode'), mode, modes)
  else if (mode === 'All' && count !== 0)
    yield field.invalid(path.child('count'), count, "must not be specified when allocationMode is 'All'")
  else if (mode === 'ExactCount' && count <= 0)
    yield field.invalid(path.child('count'), count, 'must be greater than zero')
}

export function* validateSelectors(
  selectors: Decoded<DeviceSelector[]> | null | undefined,
  path: field.Path,
): Findings {
  yield* validateItems(selectors ?? [], maxSelectors, validateSelector, path)
}

function* validateSelector(selector: Decoded<DeviceSelector>, path: field.Path): Findings {
  const { cel } = selector
  if (!cel) yield field.required(path.child('cel'))
  else if (encodeText(cel.expression ?? '').length > maxExpression)
    yield field.tooLong(path.child('cel', 'expression'), maxExpression)
  else {
    const at = path.child('cel', 'expression')
    const problem = findSelectorProblem(cel.expression ?? '')
    if (problem?.type === 'expensive') yield field.forbidden(at, 'too complex, exceeds cost limit')
    else if (problem?.type === 'internal') yield field.internalError(at, problem.detail)
    else if (problem) yield field.invalid(at, cel.expression ?? '', problem.detail)
  }
}

function* validateToleration(toleration: Decoded<DeviceToleration>, path: field.Path): Findings {
  const key = toleration.key ?? ''
  const value = toleration.value ?? ''
  const operator = toleration.operator ?? ''
  const effect = toleration.effect ?? ''
  if (key !== '') yield* validateLabelName(key, path.child('key'))
  switch (operator) {
    case 'Exists':
      if (value !== '') yield field.invalid(path.child('value'), value, 'must be empty for operator `Exists`')
      break
    case 'Equal':
      yield* invalidBecause(path.child('value'), value, isValidLabelValue(value))
      break
    case '':
      yield field.required(path.child('operator'))
      break
    default:
      yield field.notSupported(path.child('operator'), operator, ['Equal', 'Exists'])
  }
  if (effect !== '' && !effects.includes(effect))
    yield field.notSupported(path.child('effect'), effect, effects)
}

export function* validateTaint(taint: Decoded<DeviceTaint>, path: field.Path): Findings {
  const value = taint.value ?? ''
  const effect = taint.effect ?? ''
  yield* validateLabelName(taint.key ?? '', path.child('key'))
  if (value !== '') yield* invalidBecause(path.child('value'), value, isValidLabelValue(value))
  if (effect === '') yield field.required(path.child('effect'))
  else if (!effects.includes(effect)) yield field.notSupported(path.child('effect'), effect, effects)
}

function* validateConstraint(
  constraint: Decoded<DeviceConstraint>,
  names: RequestNames,
  path: field.Path,
): Findings {
  yield* validateRequestRefs(constraint.requests, names, path.child('requests'))
  const { matchAttribute, distinctAttribute } = constraint
  if (typeof matchAttribute === 'string')
    yield* validateFullyQualifiedName(matchAttribute, path.child('matchAttribute'))
  else if (typeof distinctAttribute === 'string')
    yield* validateFullyQualifiedName(distinctAttribute, path.child('distinctAttribute'))
  else
    yield field.required(
      path,
      'exactly one of "matchAttribute" or "distinctAttribute" is required, but multiple fields are set',
    )
}

export function* validateClaimConfiguration(
  config: Decoded<DeviceClaimConfiguration>,
  names: RequestNames,
  path: field.Path,
): Findings {
  yield* validateRequestRefs(config.requests, names, path.child('requests'))
  yield* validateConfiguration(config, path)
}

function* validateRequestRefs(
  refs: readonly string[] | null | undefined,
  names: RequestNames,
  path: field.Path,
): Findings {
  yield* validateSet(
    refs ?? [],
    maxRequests,
    { rule: (ref, at) => validateRequestRef(ref, names, at), keyOf: ref => ref },
    path,
  )
}

const refDetail =
  "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'"

/** `request`, or `request/alternative`. */
export function* validateRequestRef(ref: string, names: RequestNames, path: field.Path): Findings {
  const segments = ref.split('/')
  const [request = '', alternative] = segments
  if (segments.length > 2) {
    yield field.invalid(path, ref, refDetail)
    return
  }
  for (const segment of segments) yield* invalidBecause(path, segment, isDNS1123Label(segment))
  const found = names.get(request)
  if (!found || (alternative !== undefined && !found.has(alternative)))
    yield field.invalid(path, ref, refDetail)
}

export function* validateConfiguration(
  config: Decoded<DeviceConfiguration>,
  path: field.Path,
  stored = false,
): Findings {
  const at = path.child('opaque')
  if (!config.opaque) {
    yield field.required(at)
    return
  }
  yield* validateDriverName(config.opaque.driver ?? '', at.child('driver'))
  yield* validateRaw(config.opaque.parameters, at.child('parameters'), stored ? -1 : maxParameters)
}

/** Any JSON object. A negative `max` is none. */
export function* validateRaw(value: unknown, path: field.Path, max: number): Findings {
  if (value === undefined || value === null) yield field.required(path)
  else if (max >= 0 && encodeText(writeJson(value)).length > max) yield field.tooLong(path, max)
  else if (!isObject(value)) yield field.invalid(path, '<value omitted>', 'must be a valid JSON object')
}
