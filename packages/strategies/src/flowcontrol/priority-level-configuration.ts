import type {
  ExemptPriorityLevelConfiguration,
  LimitedPriorityLevelConfiguration,
  LimitResponse,
  PriorityLevelConfiguration,
  PriorityLevelConfigurationSpec,
  QueuingConfiguration,
} from '@coxswain/api/flowcontrol/v1'
import * as field from '@coxswain/apimachinery/field'
import { deepEqual } from '@coxswain/apimachinery/json'
import type { Decoded } from '../decoded.ts'
import { defineStrategy } from '../define-strategy.ts'
import { ageCell, nameCell } from '../shared/cells.ts'
import { goValue } from '../shared/go-value.ts'
import { type Findings, numberOf, printed } from '../shared/reading.ts'
import { keepStatusMetadata } from '../shared/status-metadata.ts'
import type { Strategy } from '../strategy.ts'
import { mandatoryPriorityLevels } from './bootstrap.ts'
import { validateStatus } from './status.ts'

const maxQueues = 10_000_000
/** Bits of a hash that may be used to deal queues. */
const maxHashBits = 60
const roundTripAnnotation = 'flowcontrol.k8s.io/v1beta3-preserve-zero-concurrency-shares'

export const priorityLevelConfigurationStrategy: Strategy = defineStrategy<PriorityLevelConfiguration>({
  generation: true,
  default: object => defaultLevel(object.spec ?? {}),
  validate: object => validateLevel(object),
  prepareForStatusUpdate: keepStatusMetadata,
  validateStatusUpdate: object => validateStatus(object),
  cells(object, now) {
    const { type, limited } = object.spec ?? {}
    const { queuing } = limited?.limitResponse ?? {}
    const queue = (name: 'queues' | 'handSize' | 'queueLengthLimit') =>
      queuing ? numberOf(queuing[name]) : '<none>'
    return {
      Name: nameCell(object),
      Type: type ?? '',
      NominalConcurrencyShares: limited ? numberOf(limited.nominalConcurrencyShares) : '<none>',
      Queues: queue('queues'),
      HandSize: queue('handSize'),
      QueueLengthLimit: queue('queueLengthLimit'),
      Age: ageCell(object, now),
    }
  },
})

function defaultLevel({ limited, exempt }: Decoded<PriorityLevelConfigurationSpec>): void {
  if (exempt) {
    exempt.nominalConcurrencyShares ??= 0
    exempt.lendablePercent ??= 0
  }
  if (!limited) return
  limited.nominalConcurrencyShares ??= 30
  limited.lendablePercent ??= 0
  const { queuing } = limited.limitResponse ?? {}
  if (!queuing) return
  queuing.handSize ||= 8
  queuing.queues ||= 64
  queuing.queueLengthLimit ||= 50
}

const printSpec = (spec: Decoded<PriorityLevelConfigurationSpec>) =>
  goValue('flowcontrol.PriorityLevelConfigurationSpec', spec)

function* validateLevel(object: Decoded<PriorityLevelConfiguration>): Findings {
  const own = nameCell(object)
  const spec = object.spec ?? {}
  if (Object.hasOwn(object.metadata.annotations ?? {}, roundTripAnnotation))
    yield field.forbidden(
      field.Path.of('metadata', 'annotations'),
      `annotation '${roundTripAnnotation}' is forbidden`,
    )
  yield* validateSpec(own, spec, field.Path.of('spec'))
  yield* validateFixed(own, spec, field.Path.of('spec'))
  yield* validateStatus(object)
}

/** The mandatory levels have fixed specs; only the shares of the exempt one can be set. */
function* validateFixed(
  own: string,
  spec: Decoded<PriorityLevelConfigurationSpec>,
  path: field.Path,
): Findings {
  const fixed = mandatoryPriorityLevels.get(own)
  if (!fixed) return
  const isExempt = own === 'exempt'
  const compared = isExempt ? { ...spec, exempt: fixed.exempt! } : spec
  if (deepEqual(printSpec(compared), printSpec(fixed))) return
  const what = isExempt ? "except the 'spec.exempt' field must equal" : 'must equal'
  yield field.invalid(path, printed(printSpec(spec)), `spec of '${own}' ${what} the fixed value`)
}

function* validateSpec(
  own: string,
  spec: Decoded<PriorityLevelConfigurationSpec>,
  path: field.Path,
): Findings {
  const type = spec.type ?? ''
  if ((own === 'exempt') !== (type === 'Exempt'))
    yield field.invalid(path.child('type'), type, "must be 'Exempt' if and only if `name` is 'exempt'")
  switch (type) {
    case 'Exempt':
      if (spec.limited) yield field.forbidden(path.child('limited'), 'must be nil if the type is not Limited')
      if (spec.exempt) yield* validateShares(spec.exempt, path.child('exempt'))
      return
    case 'Limited':
      if (spec.exempt) yield field.forbidden(path.child('exempt'), 'must be nil if the type is Limited')
      if (spec.limited) yield* validateLimited(spec.limited, path.child('limited'))
      else yield field.required(path.child('limited'), 'must not be empty when type is Limited')
      return
    case '':
      yield field.required(path.child('type'))
      return
    default:
      yield field.notSupported(path.child('type'), type, ['Exempt', 'Limited'])
  }
}

function* validateNominal(level: Decoded<ExemptPriorityLevelConfiguration>, path: field.Path): Findings {
  const shares = numberOf(level.nominalConcurrencyShares)
  if (shares < 0)
    yield field.invalid(path.child('nominalConcurrencyShares'), shares, 'must be a non-negative integer')
}

function* validateLendable(level: Decoded<ExemptPriorityLevelConfiguration>, path: field.Path): Findings {
  const lendable = numberOf(level.lendablePercent)
  if (lendable < 0 || lendable > 100)
    yield field.invalid(path.child('lendablePercent'), lendable, 'must be between 0 and 100, inclusive')
}

function* validateShares(level: Decoded<ExemptPriorityLevelConfiguration>, path: field.Path): Findings {
  yield* validateNominal(level, path)
  yield* validateLendable(level, path)
}

function* validateLimited(level: Decoded<LimitedPriorityLevelConfiguration>, path: field.Path): Findings {
  yield* validateNominal(level, path)
  yield* validateLimitResponse(level.limitResponse ?? {}, path.child('limitResponse'))
  yield* validateLendable(level, path)
  const borrowing = numberOf(level.borrowingLimitPercent)
  if (borrowing < 0)
    yield field.invalid(
      path.child('borrowingLimitPercent'),
      borrowing,
      'if specified, must be a non-negative integer',
    )
}

function* validateLimitResponse({ type, queuing }: Decoded<LimitResponse>, path: field.Path): Findings {
  switch (type ?? '') {
    case 'Reject':
      if (queuing)
        yield field.forbidden(
          path.child('queuing'),
          'must be nil if limited.limitResponse.type is not Limited',
        )
      return
    case 'Queue':
      if (queuing) yield* validateQueuing(queuing, path.child('queuing'))
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

function* validateQueuing(queuing: Decoded<QueuingConfiguration>, path: field.Path): Findings {
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
