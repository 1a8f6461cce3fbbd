import * as field from '@coxswain/apimachinery/field'
import { isObject, type JsonObject } from '@coxswain/apimachinery/json'
import { isHTTPHeaderName, isValidPortName, isValidPortNum } from '@coxswain/apimachinery/validation'
import {
  type Findings,
  invalidBecause,
  listOf,
  numberOf,
  stringsOf,
  textOf,
  validateNonnegative,
  validateOneOf,
} from '../../../shared/reading.ts'

/** What probes and hooks need to know of their pod. */
export interface HandlerContext {
  readonly gracePeriod: number | undefined
}

export function* validateProbes(container: JsonObject, path: field.Path, context: HandlerContext): Findings {
  for (const kind of ['livenessProbe', 'readinessProbe', 'startupProbe']) {
    const probe = container[kind]
    if (!isObject(probe)) continue
    const at = path.child(kind)
    yield* validateProbe(probe, at, context)
    if (kind === 'readinessProbe') {
      if (probe.terminationGracePeriodSeconds !== undefined) {
        const seconds = probe.terminationGracePeriodSeconds
        yield field.invalid(
          at.child('terminationGracePeriodSeconds'),
          seconds,
          'must not be set for readinessProbes',
        )
      }
    } else if (numberOf(probe.successThreshold) !== 1) {
      yield field.invalid(at.child('successThreshold'), probe.successThreshold ?? 0, 'must be 1')
    }
  }
}

const counts = [
  'initialDelaySeconds',
  'timeoutSeconds',
  'periodSeconds',
  'successThreshold',
  'failureThreshold',
]

function* validateProbe(probe: JsonObject, path: field.Path, context: HandlerContext): Findings {
  yield* validateHandler(probe, ['exec', 'httpGet', 'tcpSocket', 'grpc'], path, context)
  for (const count of counts) yield* validateNonnegative(probe[count], path.child(count))
  const grace = probe.terminationGracePeriodSeconds
  if (grace !== undefined && Number(grace) <= 0)
    yield field.invalid(path.child('terminationGracePeriodSeconds'), grace, 'must be greater than 0')
}

export function* validateLifecycle(
  lifecycle: JsonObject,
  path: field.Path,
  context: HandlerContext,
): Findings {
  for (const hook of ['postStart', 'preStop']) {
    if (isObject(lifecycle[hook])) {
      yield* validateHandler(
        lifecycle[hook],
        ['exec', 'httpGet', 'tcpSocket', 'sleep'],
        path.child(hook),
        context,
      )
    }
  }
}

/** Exactly one way of asking or telling a container. */
function* validateHandler(
  handler: JsonObject,
  types: readonly string[],
  path: field.Path,
  context: HandlerContext,
): Findings {
  const given = types.filter(type => isObject(handler[type]))
  for (const [index, type] of given.entries()) {
    const at = path.child(type)
    if (index > 0) yield field.forbidden(at, 'may not specify more than 1 handler type')
    else yield* validateAction(type, handler[type] as JsonObject, at, context)
  }
  if (given.length === 0) yield field.required(path, 'must specify a handler type')
}

function* validateAction(
  type: string,
  action: JsonObject,
  path: field.Path,
  { gracePeriod }: HandlerContext,
): Findings {
  if (type === 'exec') {
    if (stringsOf(action.command).length === 0) yield field.required(path.child('command'))
  } else if (type === 'sleep') {
    const seconds = numberOf(action.seconds)
    if (gracePeriod !== undefined && (seconds < 0 || seconds > gracePeriod)) {
      const message = `must be non-negative and less than terminationGracePeriodSeconds (${gracePeriod})`
      yield field.invalid(path, action.seconds ?? 0, message)
    }
  } else {
    if (type === 'httpGet' && textOf(action.path) === '') yield field.required(path.child('path'))
    yield* validatePort(action.port, path.child('port'))
    if (type === 'httpGet') {
      yield* validateOneOf(action.scheme, ['HTTP', 'HTTPS'], path.child('scheme'))
      for (const header of listOf(action.httpHeaders)) {
        const name = textOf(header.name)
        yield* invalidBecause(path.child('httpHeaders'), name, isHTTPHeaderName(name))
      }
    }
  }
}

/** A port by number or by name. */
export function* validatePort(port: unknown, path: field.Path): Findings {
  if (typeof port === 'string') yield* invalidBecause(path, port, isValidPortName(port))
  else yield* invalidBecause(path, port ?? 0, isValidPortNum(numberOf(port)))
}

export function handlerContextOf(spec: JsonObject): HandlerContext {
  const grace = spec.terminationGracePeriodSeconds
  return {
    gracePeriod: grace === undefined ? undefined : Number(grace),
  }
}
