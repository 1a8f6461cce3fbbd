import type { LimitRange, LimitRangeItem } from '@coxswain/api/core/v1'
import * as field from '@coxswain/apimachinery/field'
import { parseQuantity, type Quantity } from '@coxswain/apimachinery/quantity'
import { isQualifiedName } from '@coxswain/apimachinery/validation'
import type { Decoded } from '../decoded.ts'
import { defineStrategy } from '../define-strategy.ts'
import { type Findings, invalidBecause } from '../shared/reading.ts'
import type { Strategy } from '../strategy.ts'
import {
  mayOvercommit,
  validateContainerResourceName,
  validateResourceName,
} from './pod/validation/resources.ts'

const limitTypes = new Set(['Pod', 'Container', 'PersistentVolumeClaim'])
/** From here on upstream compares whole values instead of thousandths. */
const maxMilliValue = (2n ** 63n - 1n) / 1000n

export const limitRangeStrategy: Strategy = defineStrategy<LimitRange>({
  createOnUpdate: true,
  default(object) {
    for (const limit of object.spec?.limits ?? []) {
      if (limit.type === 'Container') completeContainerLimit(limit)
    }
  },
  prepareForCreate(object, { random }) {
    const metadata = object.metadata
    if (!metadata.name) metadata.name = random.uuid()
  },
  validate: object => validateLimits(object),
})

/** The maximum is the default limit, the default limit the default request, and failing that the minimum. */
function completeContainerLimit(limit: Decoded<LimitRangeItem>): void {
  const defaults = { ...(limit.default ?? {}) }
  const requests = { ...(limit.defaultRequest ?? {}) }
  for (const [name, amount] of Object.entries(limit.max ?? {})) defaults[name] ??= amount
  for (const [name, amount] of Object.entries(defaults)) requests[name] ??= amount
  for (const [name, amount] of Object.entries(limit.min ?? {})) requests[name] ??= amount
  if (Object.keys(defaults).length > 0) limit.default = defaults
  if (Object.keys(requests).length > 0) limit.defaultRequest = requests
}

function* validateLimits(object: Decoded<LimitRange>): Findings {
  const seen = new Set<string>()
  for (const [index, limit] of (object.spec?.limits ?? []).entries()) {
    const path = field.Path.of('spec', 'limits').index(index)
    const type = limit.type ?? ''
    yield* validateTypeName(type, path.child('type'))
    if (seen.has(type)) yield field.duplicate(path.child('type'), type)
    seen.add(type)
    yield* validateLimit(limit, type, path)
  }
}

function* validateTypeName(type: string, path: field.Path): Findings {
  const messages = isQualifiedName(type)
  yield* invalidBecause(path, type, messages)
  if (messages.length === 0 && !type.includes('/') && !limitTypes.has(type))
    yield field.invalid(path, type, 'must be a standard limit type or fully qualified')
}

type Amounts = Map<string, Quantity>
type AmountMember = Exclude<keyof Decoded<LimitRangeItem>, 'type'>

function* validateLimit(limit: Decoded<LimitRangeItem>, type: string, path: field.Path): Findings {
  const nameRule =
    type === 'Pod' || type === 'Container' ? validateContainerResourceName : validateResourceName
  const read = function* (member: AmountMember): Generator<Findings, Amounts, undefined> {
    const amounts: Amounts = new Map()
    for (const [name, text] of Object.entries(limit[member] ?? {})) {
      yield nameRule(name, path.child(member).key(name))
      amounts.set(name, parseQuantity(text))
    }
    return amounts
  }
  const max = yield* flatten(read('max'))
  const min = yield* flatten(read('min'))
  let defaults: Amounts = new Map()
  let requests: Amounts = new Map()
  if (type === 'Pod') {
    for (const member of ['default', 'defaultRequest'] as const) {
      if (Object.keys(limit[member] ?? {}).length > 0)
        yield field.forbidden(path.child(member), "may not be specified when `type` is 'Pod'")
    }
  } else {
    defaults = yield* flatten(read('default'))
    requests = yield* flatten(read('defaultRequest'))
  }
  if (type === 'PersistentVolumeClaim' && !min.has('storage') && !max.has('storage')) {
    const message = 'either minimum or maximum storage value is required, but neither was provided'
    yield field.required(path.child('limits'), message)
  }
  const ratios = yield* flatten(read('maxLimitRequestRatio'))
  for (const name of new Set(
    [max, min, defaults, requests, ratios].flatMap(amounts => [...amounts.keys()]),
  )) {
    const found = {
      min: min.get(name),
      max: max.get(name),
      default: defaults.get(name),
      request: requests.get(name),
      ratio: ratios.get(name),
    }
    yield* validateOrder(name, found, path)
    yield* validateRatio(name, found, path)
  }
}

function* flatten<T>(
  findings: Generator<Findings, T, undefined>,
): Generator<ReturnType<typeof field.invalid>, T, undefined> {
  for (;;) {
    const next = findings.next()
    if (next.done) return next.value
    yield* next.value
  }
}

interface Amount {
  readonly min: Quantity | undefined
  readonly max: Quantity | undefined
  readonly default: Quantity | undefined
  readonly request: Quantity | undefined
  readonly ratio: Quantity | undefined
}

const isOver = (a: Quantity | undefined, b: Quantity | undefined): boolean =>
  a !== undefined && b !== undefined && a.compare(b) > 0

/** Minimum, default request, default limit and maximum of a resource are in this order. */
function* validateOrder(name: string, found: Amount, path: field.Path): Findings {
  const { min, max, request } = found
  const limit = found.default
  const at = (member: string) => path.child(member).key(name)
  const wrong = (member: string, value: Quantity | undefined, message: string) =>
    field.invalid(at(member), String(value), message)
  if (isOver(min, max)) yield wrong('min', min, `min value ${min} is greater than max value ${max}`)
  if (isOver(min, request))
    yield wrong(
      'defaultRequest',
      request,
      `min value ${min} is greater than default request value ${request}`,
    )
  if (isOver(request, max))
    yield wrong(
      'defaultRequest',
      request,
      `default request value ${request} is greater than max value ${max}`,
    )
  if (isOver(request, limit)) {
    const message = `default request value ${request} is greater than default limit value ${limit}`
    yield wrong('defaultRequest', request, message)
  }
  if (isOver(min, limit))
    yield wrong('default', min, `min value ${min} is greater than default value ${limit}`)
  if (isOver(limit, max))
    yield wrong('default', max, `default value ${limit} is greater than max value ${max}`)
  if (!mayOvercommit(name) && limit && request && limit.compare(request) !== 0) {
    const message = `default value ${limit} must equal to defaultRequest value ${request} in ${name}`
    yield wrong('defaultRequest', request, message)
  }
}

function* validateRatio(name: string, { ratio, min, max }: Amount, path: field.Path): Findings {
  if (!ratio) return
  const at = path.child('maxLimitRequestRatio').key(name)
  if (ratio.compare(parseQuantity('1')) < 0)
    yield field.invalid(at, String(ratio), `ratio ${ratio} is less than 1`)
  if (!min || !max) return
  const fine = [ratio, min, max].every(amount => amount.value < maxMilliValue)
  const wanted = fine ? Number(ratio.milliValue) / 1000 : Number(ratio.value)
  const widest = fine
    ? Number(max.milliValue) / Number(min.milliValue)
    : Number(max.value) / Number(min.value)
  if (wanted > widest) {
    const message = `ratio ${ratio} is greater than max/min = ${widest.toFixed(6)}`
    yield field.invalid(at, String(ratio), message)
  }
}
