import type {
  Container,
  HTTPGetAction,
  Lifecycle,
  LifecycleHandler,
  PodSpec,
  Probe,
} from '@coxswain/api/core/v1'
import * as field from '@coxswain/apimachinery/field'
import { isHTTPHeaderName, isValidPortName, isValidPortNum } from '@coxswain/apimachinery/validation'
import type { Decoded } from '../../../decoded.ts'
import {
  type Findings,
  invalidBecause,
  numberOf,
  validateNonnegative,
  validateOneOf,
} from '../../../shared/reading.ts'

/** What probes and hooks need to know of their pod. */
export interface HandlerContext {
  readonly gracePeriod: number | undefined
}

export function* validateProbes(
  container: Decoded<Container>,
  path: field.Path,
  context: HandlerContext,
): Findings {
  for (const kind of ['livenessProbe', 'readinessProbe', 'startupProbe'] as const) {
    const probe = container[kind]
    if (!probe) continue
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
] as const

function* validateProbe(probe: Decoded<Probe>, path: field.Path, context: HandlerContext): Findings {
  yield* validateHandler(probe, path, context)
  for (const count of counts) yield* validateNonnegative(probe[count], path.child(count))
  const grace = probe.terminationGracePeriodSeconds
  if (grace !== undefined && Number(grace) <= 0)
    yield field.invalid(path.child('terminationGracePeriodSeconds'), grace, 'must be greater than 0')
}

export function* validateLifecycle(
  lifecycle: Decoded<Lifecycle>,
  path: field.Path,
  context: HandlerContext,
): Findings {
  for (const hook of ['postStart', 'preStop'] as const) {
    const handler = lifecycle[hook]
    if (handler) yield* validateHandler(handler, path.child(hook), context)
  }
}

/** The handlers of probes and hooks. */
type Handler = Decoded<Pick<Probe, 'exec' | 'httpGet' | 'tcpSocket' | 'grpc'> & LifecycleHandler>

const handlerTypes = ['exec', 'httpGet', 'tcpSocket', 'grpc', 'sleep'] as const

/** A probe or hook has exactly one handler. */
function* validateHandler(handler: Handler, path: field.Path, context: HandlerContext): Findings {
  const given = handlerTypes.filter(type => handler[type])
  const [first, ...others] = given
  if (first === undefined) yield field.required(path, 'must specify a handler type')
  else yield* validateAction(handler, path.child(first), context)
  for (const type of others)
    yield field.forbidden(path.child(type), 'may not specify more than 1 handler type')
}

/** The first handler; `path` is the handler's own. */
function* validateAction(
  { exec, httpGet, tcpSocket, grpc, sleep }: Handler,
  path: field.Path,
  { gracePeriod }: HandlerContext,
): Findings {
  if (exec) {
    if ((exec.command ?? []).length === 0) yield field.required(path.child('command'))
  } else if (httpGet) {
    yield* validateHttpGet(httpGet, path)
  } else if (tcpSocket) {
    yield* validatePort(tcpSocket.port, path.child('port'))
  } else if (grpc) {
    yield* validatePort(grpc.port, path.child('port'))
  } else if (sleep) {
    const seconds = numberOf(sleep.seconds)
    if (gracePeriod !== undefined && (seconds < 0 || seconds > gracePeriod)) {
      const message = `must be non-negative and less than terminationGracePeriodSeconds (${gracePeriod})`
      yield field.invalid(path, sleep.seconds ?? 0, message)
    }
  }
}

function* validateHttpGet(action: Decoded<HTTPGetAction>, path: field.Path): Findings {
  if ((action.path ?? '') === '') yield field.required(path.child('path'))
  yield* validatePort(action.port, path.child('port'))
  yield* validateOneOf(action.scheme, ['HTTP', 'HTTPS'], path.child('scheme'))
  for (const { name = '' } of action.httpHeaders ?? [])
    yield* invalidBecause(path.child('httpHeaders'), name, isHTTPHeaderName(name))
}

/** A port by number or by name. */
function* validatePort(port: number | string | undefined, path: field.Path): Findings {
  if (typeof port === 'string') yield* invalidBecause(path, port, isValidPortName(port))
  else yield* invalidBecause(path, port ?? 0, isValidPortNum(numberOf(port)))
}

export function handlerContextOf(spec: Decoded<PodSpec>): HandlerContext {
  const grace = spec.terminationGracePeriodSeconds
  return {
    gracePeriod: grace === undefined ? undefined : Number(grace),
  }
}
