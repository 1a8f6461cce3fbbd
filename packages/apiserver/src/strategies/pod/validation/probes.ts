import { field, isHTTPHeaderName, isValidPortName, isValidPortNum } from '@coxswain/apimachinery'
import { isObject, type JsonObject } from '../../../json.ts'
import {
  type Findings,
  invalidBecause,
  listOf,
  numberOf,
  objectOf,
  stringsOf,
  textOf,
  validateNonnegative,
  validateOneOf,
} from './reading.ts'

/** What probes and hooks need to know of their pod. */
export interface HandlerContext {
  readonly gracePeriod: number | undefined
  readonly os: string | undefined
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
  if (lifecycle.stopSignal !== undefined) {
    yield* validateStopSignal(lifecycle.stopSignal, path.child('stopSignal'), context.os)
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

const realTime = [
  ...Array.from({ length: 15 }, (_, index) => `SIGRTMIN+${index + 1}`),
  ...Array.from({ length: 14 }, (_, index) => `SIGRTMAX-${index + 1}`),
]
const linuxSignals = [
  ...['ABRT', 'ALRM', 'BUS', 'CHLD', 'CLD', 'CONT', 'FPE', 'HUP', 'ILL', 'INT', 'IO', 'IOT', 'KILL'],
  ...['PIPE', 'POLL', 'PROF', 'PWR', 'QUIT', 'SEGV', 'STKFLT', 'STOP', 'SYS', 'TERM', 'TRAP', 'TSTP'],
  ...['TTIN', 'TTOU', 'URG', 'USR1', 'USR2', 'VTALRM', 'WINCH', 'XCPU', 'XFSZ', 'RTMIN', 'RTMAX'],
]
  .map(name => `SIG${name}`)
  .concat(realTime)
  .sort()

function* validateStopSignal(signal: unknown, path: field.Path, os: string | undefined): Findings {
  if (os === undefined) yield field.forbidden(path, 'may not be set for containers with empty `spec.os.name`')
  else if (os === 'windows') yield* validateOneOf(signal, ['SIGKILL', 'SIGTERM'], path)
  else if (os === 'linux') yield* validateOneOf(signal, linuxSignals, path)
}

export function handlerContextOf(spec: JsonObject): HandlerContext {
  const grace = spec.terminationGracePeriodSeconds
  return {
    gracePeriod: grace === undefined ? undefined : Number(grace),
    os: spec.os === undefined ? undefined : textOf(objectOf(spec.os).name),
  }
}
