import * as field from '@coxswain/apimachinery/field'
import { deepEqual, isObject, type JsonObject } from '@coxswain/apimachinery/json'
import { ageCell, nameCell } from '../shared/cells.ts'
import { embedded, number, plain, pointer, struct, text } from '../shared/go-form.ts'
import { type Findings, numberOf, objectOf, printed, recordOf, textOf } from '../shared/reading.ts'
import { keepStatusMetadata } from '../shared/status-metadata.ts'
import type { Strategy } from '../strategy.ts'
import { mandatoryPriorityLevels } from './bootstrap.ts'
import { validateStatus } from './status.ts'

const maxQueues = 10_000_000
/** Bits of a hash that may be used to deal queues. */
const maxHashBits = 60
const roundTripAnnotation = 'flowcontrol.k8s.io/v1beta3-preserve-zero-concurrency-shares'

export const priorityLevelConfigurationStrategy: Strategy = {
  generation: true,
  default: object => defaultLevel(objectOf(object.spec)),
  validate: object => validateLevel(object),
  prepareForStatusUpdate: keepStatusMetadata,
  validateStatusUpdate: object => validateStatus(object),
  cells(object, now) {
    const { type, limited } = objectOf(object.spec)
    const { queuing } = objectOf(objectOf(limited).limitResponse)
    const queue = (name: string) => (isObject(queuing) ? numberOf(queuing[name]) : '<none>')
    return [
      nameCell(object),
      textOf(type),
      isObject(limited) ? numberOf(limited.nominalConcurrencyShares) : '<none>',
      queue('queues'),
      queue('handSize'),
      queue('queueLengthLimit'),
      ageCell(object, now),
    ]
  },
}

function defaultLevel({ limited, exempt }: JsonObject): void {
  if (isObject(exempt)) {
    exempt.nominalConcurrencyShares ??= 0
    exempt.lendablePercent ??= 0
  }
  if (!isObject(limited)) return
  limited.nominalConcurrencyShares ??= 30
  limited.lendablePercent ??= 0
  const { queuing } = objectOf(limited.limitResponse)
  if (!isObject(queuing)) return
  queuing.handSize ||= 8
  queuing.queues ||= 64
  queuing.queueLengthLimit ||= 50
}

const exemptForm = struct({
  NominalConcurrencyShares: plain('nominalConcurrencyShares'),
  LendablePercent: plain('lendablePercent'),
})
const specForm = struct({
  Type: text('type'),
  Limited: pointer(
    'limited',
    struct({
      NominalConcurrencyShares: number('nominalConcurrencyShares'),
      LimitResponse: embedded(
        'limitResponse',
        struct({
          Type: text('type'),
          Queuing: pointer(
            'queuing',
            struct({
              Queues: number('queues'),
              HandSize: number('handSize'),
              QueueLengthLimit: number('queueLengthLimit'),
            }),
          ),
        }),
      ),
      LendablePercent: plain('lendablePercent'),
      BorrowingLimitPercent: plain('borrowingLimitPercent'),
    }),
  ),
  Exempt: pointer('exempt', exemptForm),
})

function* validateLevel(object: JsonObject): Findings {
  const own = nameCell(object)
  const spec = objectOf(object.spec)
  if (Object.hasOwn(recordOf((object.metadata as JsonObject).annotations), roundTripAnnotation))
    yield field.forbidden(
      field.Path.of('metadata', 'annotations'),
      `annotation '${roundTripAnnotation}' is forbidden`,
    )
  yield* validateSpec(own, spec, field.Path.of('spec'))
  yield* validateFixed(own, spec, field.Path.of('spec'))
  yield* validateStatus(object)
}

/** The levels that every server needs are what they are; of the exempt one the shares may be set. */
function* validateFixed(own: string, spec: JsonObject, path: field.Path): Findings {
  const fixed = mandatoryPriorityLevels.get(own)
  if (!fixed) return
  const isExempt = own === 'exempt'
  const compared = isExempt ? { ...spec, exempt: fixed.exempt } : spec
  if (deepEqual(specForm(compared), specForm(fixed))) return
  const what = isExempt ? "except the 'spec.exempt' field must equal" : 'must equal'
  yield field.invalid(path, printed(specForm(spec)), `spec of '${own}' ${what} the fixed value`)
}

function* validateSpec(own: string, spec: JsonObject, path: field.Path): Findings {
  const type = textOf(spec.type)
  if ((own === 'exempt') !== (type === 'Exempt'))
    yield field.invalid(path.child('type'), type, "must be 'Exempt' if and only if `name` is 'exempt'")
  switch (type) {
    case 'Exempt':
      if (isObject(spec.limited))
        yield field.forbidden(path.child('limited'), 'must be nil if the type is not Limited')
      if (isObject(spec.exempt)) yield* validateShares(spec.exempt, path.child('exempt'))
      return
    case 'Limited':
      if (isObject(spec.exempt))
        yield field.forbidden(path.child('exempt'), 'must be nil if the type is Limited')
      if (isObject(spec.limited)) yield* validateLimited(spec.limited, path.child('limited'))
      else yield field.required(path.child('limited'), 'must not be empty when type is Limited')
      return
    case '':
      yield field.required(path.child('type'))
      return
    default:
      yield field.notSupported(path.child('type'), type, ['Exempt', 'Limited'])
  }
}

function* validateNominal(level: JsonObject, path: field.Path): Findings {
  const shares = numberOf(level.nominalConcurrencyShares)
  if (shares < 0)
    yield field.invalid(path.child('nominalConcurrencyShares'), shares, 'must be a non-negative integer')
}

function* validateLendable(level: JsonObject, path: field.Path): Findings {
  const lendable = numberOf(level.lendablePercent)
  if (lendable < 0 || lendable > 100)
    yield field.invalid(path.child('lendablePercent'), lendable, 'must be between 0 and 100, inclusive')
}

function* validateShares(level: JsonObject, path: field.Path): Findings {
  yield* validateNominal(level, path)
  yield* validateLendable(level, path)
}

function* validateLimited(level: JsonObject, path: field.Path): Findings {
  yield* validateNominal(level, path)
  yield* validateLimitResponse(objectOf(level.limitResponse), path.child('limitResponse'))
  yield* validateLendable(level, path)
  const borrowing = numberOf(level.borrowingLimitPercent)
  if (borrowing < 0)
    yield field.invalid(
      path.child('borrowingLimitPercent'),
      borrowing,
      'if specified, must be a non-negative integer',
    )
}

function* validateLimitResponse({ type, queuing }: JsonObject, path: field.Path): Findings {
  switch (type ?? '') {
    case 'Reject':
      if (isObject(queuing))
        yield field.forbidden(
          path.child('queuing'),
          'must be nil if limited.limitResponse.type is not Limited',
        )
      return
    case 'Queue':
      if (isObject(queuing)) yield* validateQueuing(queuing, path.child('queuing'))
      else
        yield field.required(
          path.child('queuing'),
          'must not be empty if limited.limitResponse.type is Limited',
        )
      return
    case '':
      yield field.required(path.child('type'))
      return
    default:
      yield field.notSupported(path.child('type'), type, ['Queue', 'Reject'])
  }
}

function* validateQueuing(queuing: JsonObject, path: field.Path): Findings {
  const queues = numberOf(queuing.queues)
  const hand = numberOf(queuing.handSize)
  const length = numberOf(queuing.queueLengthLimit)
  if (length <= 0) yield field.invalid(path.child('queueLengthLimit'), length, 'must be positive')
  if (queues <= 0) yield field.invalid(path.child('queues'), queues, 'must be positive')
  else if (queues > maxQueues)
    yield field.invalid(path.child('queues'), queues, `must not be greater than ${maxQueues}`)
  const at = path.child('handSize')
  if (hand <= 0) yield field.invalid(at, hand, 'must be positive')
  else if (hand > queues) yield field.invalid(at, hand, `should not be greater than queues (${queues})`)
  else if (Math.ceil(Math.log2(queues) * hand) > maxHashBits)
    yield field.invalid(
      at,
      hand,
      `required entropy bits of deckSize ${queues} and handSize ${hand} should not be greater than ${maxHashBits}`,
    )
}
