import type {
  DaemonSetUpdateStrategy,
  DeploymentStrategy,
  StatefulSetUpdateStrategy,
} from '@coxswain/api/apps/v1'
import * as field from '@coxswain/apimachinery/field'
import { type IntOrString, intValue } from '@coxswain/apimachinery/intstr'
import { isValidPercent } from '@coxswain/apimachinery/validation'
import type { Decoded } from '../decoded.ts'
import { goValue } from '../shared/go-value.ts'
import { type Findings, printed } from '../shared/reading.ts'

const percentOf = (value: IntOrString): number | undefined =>
  typeof value === 'string' && isValidPercent(value).length === 0 ? Number(value.slice(0, -1)) : undefined

/** The number, or the number before the percent sign. */
export const amountOf = (value: IntOrString): number => percentOf(value) ?? intValue(value)

const readValue = (value: IntOrString | undefined): IntOrString =>
  typeof value === 'string' ? value : value === undefined ? 0 : Number(value)

export function* validateIntOrPercent(value: IntOrString | undefined, path: field.Path): Findings {
  const given = readValue(value)
  if (typeof given === 'string') {
    for (const message of isValidPercent(given)) yield field.invalid(path, given, message)
  } else if (given < 0) {
    yield field.invalid(path, given, 'must be greater than or equal to 0')
  }
}

export function* validateAtMostAll(value: IntOrString | undefined, path: field.Path): Findings {
  if ((percentOf(readValue(value)) ?? 0) > 100)
    yield field.invalid(path, value, 'must not be greater than 100%')
}

export function* validateDeploymentStrategy(
  strategy: Decoded<DeploymentStrategy>,
  path: field.Path,
): Findings {
  const at = path.child('rollingUpdate')
  if (strategy.type === 'Recreate') {
    if (strategy.rollingUpdate !== undefined)
      yield field.forbidden(at, "may not be specified when strategy `type` is 'Recreate'")
    return
  }
  if (strategy.type !== 'RollingUpdate') {
    yield field.notSupported(path, printed(goValue('apps.DeploymentStrategy', strategy)), [
      'Recreate',
      'RollingUpdate',
    ])
    return
  }
  const { maxUnavailable, maxSurge } = strategy.rollingUpdate ?? {}
  yield* validateIntOrPercent(maxUnavailable, at.child('maxUnavailable'))
  yield* validateIntOrPercent(maxSurge, at.child('maxSurge'))
  if (amountOf(readValue(maxUnavailable)) === 0 && amountOf(readValue(maxSurge)) === 0) {
    const message = 'may not be 0 when `maxSurge` is 0'
    yield field.invalid(at.child('maxUnavailable'), readValue(maxUnavailable), message)
  }
  yield* validateAtMostAll(maxUnavailable, at.child('maxUnavailable'))
}

export function* validateDaemonSetStrategy(
  strategy: Decoded<DaemonSetUpdateStrategy>,
  path: field.Path,
): Findings {
  if (strategy.type === 'OnDelete') return
  if (strategy.type !== 'RollingUpdate') {
    yield field.notSupported(path, printed(goValue('apps.DaemonSetUpdateStrategy', strategy)), [
      'RollingUpdate',
      'OnDelete',
    ])
    return
  }
  const at = path.child('rollingUpdate')
  if (!strategy.rollingUpdate) {
    yield field.required(at)
    return
  }
  const { maxUnavailable, maxSurge } = strategy.rollingUpdate
  yield* validateIntOrPercent(maxUnavailable, at.child('maxUnavailable'))
  yield* validateIntOrPercent(maxSurge, at.child('maxSurge'))
  yield* validateAtMostAll(maxUnavailable, at.child('maxUnavailable'))
  yield* validateAtMostAll(maxSurge, at.child('maxSurge'))
  const unavailable = amountOf(readValue(maxUnavailable)) !== 0
  const surge = amountOf(readValue(maxSurge)) !== 0
  if (unavailable && surge)
    yield field.invalid(at.child('maxSurge'), maxSurge, 'may not be set when maxUnavailable is non-zero')
  else if (!unavailable && !surge)
    yield field.required(at.child('maxUnavailable'), 'cannot be 0 when maxSurge is 0')
}

export function* validateStatefulSetStrategy(
  strategy: Decoded<StatefulSetUpdateStrategy>,
  path: field.Path,
): Findings {
  const at = path.child('rollingUpdate')
  const rolling = strategy.rollingUpdate
  if ((strategy.type ?? '') === '') yield field.required(path)
  else if (strategy.type === 'OnDelete') {
    if (rolling) {
      const shown = printed(goValue('apps.RollingUpdateStatefulSetStrategy', rolling))
      yield field.invalid(at, shown, "only allowed for updateStrategy 'RollingUpdate'")
    }
  } else if (strategy.type === 'RollingUpdate') {
    if (!rolling) return
    const partition = Number(rolling.partition ?? 0)
    if (partition < 0)
      yield field.invalid(at.child('partition'), partition, 'must be greater than or equal to 0')
    if (rolling.maxUnavailable === undefined) return
    yield* validateIntOrPercent(rolling.maxUnavailable, at.child('maxUnavailable'))
    if (amountOf(readValue(rolling.maxUnavailable)) === 0)
      yield field.invalid(at.child('maxUnavailable'), rolling.maxUnavailable, 'cannot be 0')
    yield* validateAtMostAll(rolling.maxUnavailable, at.child('maxUnavailable'))
  } else {
    const shown = printed(goValue('apps.StatefulSetUpdateStrategy', strategy))
    yield field.invalid(path, shown, "must be 'RollingUpdate' or 'OnDelete'")
  }
}
