import * as field from '@coxswain/apimachinery/field'
import { isObject, type JsonObject, writeJson } from '@coxswain/apimachinery/json'
import {
  isDNS1123Label,
  isDNS1123Subdomain,
  isValidLabelValue,
  validateLabelName,
} from '@coxswain/apimachinery/validation'
import { encodeText } from '@coxswain/kit'
import { type Findings, invalidBecause, listOf, numberOf, stringsOf, textOf } from '../shared/reading.ts'
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

export function requestNamesOf(devices: JsonObject): RequestNames {
  return new Map(
    listOf(devices.requests).map(request => [
      textOf(request.name),
      new Set(listOf(request.firstAvailable).map(({ name }) => textOf(name))),
    ]),
  )
}

/** Fills in how many devices a request is for and how tolerations compare. */
export function defaultRequests(devices: JsonObject): void {
  for (const request of listOf(devices.requests)) {
    if (isObject(request.exactly)) defaultMode(request.exactly)
    for (const alternative of listOf(request.firstAvailable)) defaultMode(alternative)
  }
}

function defaultMode(request: JsonObject): void {
  request.allocationMode ||= 'ExactCount'
  if (request.allocationMode === 'ExactCount') request.count ||= 1
  for (const toleration of listOf(request.tolerations)) toleration.operator ||= 'Equal'
}

/** The devices that a claim asks for. */
export function* validateDeviceClaim(devices: JsonObject, path: field.Path): Findings {
  const names = requestNamesOf(devices)
  yield* validateSet(
    listOf(devices.requests),
    maxRequests,
    { rule: validateRequest, keyOf: ({ name }) => textOf(name) },
    path.child('requests'),
  )
  yield* validateItems(
    listOf(devices.constraints),
    maxConstraints,
    (constraint, at) => validateConstraint(constraint, names, at),
    path.child('constraints'),
  )
  yield* validateItems(
    listOf(devices.config),
    maxConfigs,
    (config, at) => validateClaimConfiguration(config, names, at),
    path.child('config'),
  )
}

const choice = 'exactly one of `exactly` or `firstAvailable` is required'

function* validateRequest(request: JsonObject, path: field.Path): Findings {
  yield* invalidBecause(path.child('name'), textOf(request.name), isDNS1123Label(textOf(request.name)))
  const alternatives = listOf(request.firstAvailable)
  if (!isObject(request.exactly) && alternatives.length === 0) yield field.required(path, choice)
  else if (isObject(request.exactly) && alternatives.length > 0)
    yield field.invalid(path, null, `${choice}, but multiple fields are set`)
  else if (isObject(request.exactly)) yield* validateExactRequest(request.exactly, path.child('exactly'))
  else
    yield* validateSet(
      alternatives,
      maxAlternatives,
      { rule: validateAlternative, keyOf: ({ name }) => textOf(name) },
      path.child('firstAvailable'),
    )
}

function* validateAlternative(request: JsonObject, path: field.Path): Findings {
  yield* invalidBecause(path.child('name'), textOf(request.name), isDNS1123Label(textOf(request.name)))
  yield* validateExactRequest(request, path)
}

function* validateExactRequest(request: JsonObject, path: field.Path): Findings {
  const deviceClass = textOf(request.deviceClassName)
  const classPath = path.child('deviceClassName')
  if (deviceClass === '') yield field.required(classPath)
  else yield* invalidBecause(classPath, deviceClass, isDNS1123Subdomain(deviceClass))
  yield* validateSelectors(request.selectors, path.child('selectors'))
  yield* validateMode(textOf(request.allocationMode), numberOf(request.count), path)
  for (const [index, toleration] of listOf(request.tolerations).entries())
    yield* validateToleration(toleration, path.child('tolerations').index(index))
}

function* validateMode(mode: string, count: number, path: field.Path): Findings {
  if (!modes.includes(mode)) yield field.notSupported(path.child('allocationMode'), mode, modes)
  else if (mode === 'All' && count !== 0)
    yield field.invalid(path.child('count'), count, "must not be specified when allocationMode is 'All'")
  else if (mode === 'ExactCount' && count <= 0)
    yield field.invalid(path.child('count'), count, 'must be greater than zero')
}

export function* validateSelectors(selectors: unknown, path: field.Path): Findings {
  yield* validateItems(listOf(selectors), maxSelectors, validateSelector, path)
}

function* validateSelector(selector: JsonObject, path: field.Path): Findings {
  const { cel } = selector
  if (!isObject(cel)) yield field.required(path.child('cel'))
  else if (encodeText(textOf(cel.expression)).length > maxExpression)
    yield field.tooLong(path.child('cel', 'expression'), maxExpression)
  else {
    const at = path.child('cel', 'expression')
    const problem = findSelectorProblem(textOf(cel.expression))
    if (problem?.type === 'expensive') yield field.forbidden(at, 'too complex, exceeds cost limit')
    else if (problem?.type === 'internal') yield field.internalError(at, problem.detail)
    else if (problem) yield field.invalid(at, textOf(cel.expression), problem.detail)
  }
}

function* validateToleration(toleration: JsonObject, path: field.Path): Findings {
  const key = textOf(toleration.key)
  const value = textOf(toleration.value)
  const operator = textOf(toleration.operator)
  const effect = textOf(toleration.effect)
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

export function* validateTaint(taint: JsonObject, path: field.Path): Findings {
  const value = textOf(taint.value)
  const effect = textOf(taint.effect)
  yield* validateLabelName(textOf(taint.key), path.child('key'))
  if (value !== '') yield* invalidBecause(path.child('value'), value, isValidLabelValue(value))
  if (effect === '') yield field.required(path.child('effect'))
  else if (!effects.includes(effect)) yield field.notSupported(path.child('effect'), effect, effects)
}

function* validateConstraint(constraint: JsonObject, names: RequestNames, path: field.Path): Findings {
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
  config: JsonObject,
  names: RequestNames,
  path: field.Path,
): Findings {
  yield* validateRequestRefs(config.requests, names, path.child('requests'))
  yield* validateConfiguration(config, path)
}

function* validateRequestRefs(refs: unknown, names: RequestNames, path: field.Path): Findings {
  yield* validateSet(
    stringsOf(refs),
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

export function* validateConfiguration(config: JsonObject, path: field.Path, stored = false): Findings {
  const at = path.child('opaque')
  if (!isObject(config.opaque)) {
    yield field.required(at)
    return
  }
  yield* validateDriverName(textOf(config.opaque.driver), at.child('driver'))
  yield* validateRaw(config.opaque.parameters, at.child('parameters'), stored ? -1 : maxParameters)
}

/** Any JSON object. A negative `max` is none. */
export function* validateRaw(value: unknown, path: field.Path, max: number): Findings {
  if (value === undefined || value === null) yield field.required(path)
  else if (max >= 0 && encodeText(writeJson(value)).length > max) yield field.tooLong(path, max)
  else if (!isObject(value)) yield field.invalid(path, '<value omitted>', 'must be a valid JSON object')
}
