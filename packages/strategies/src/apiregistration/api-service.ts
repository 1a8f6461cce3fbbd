import * as field from '@coxswain/apimachinery/field'
import { isObject, type JsonObject } from '@coxswain/apimachinery/json'
import { formatTime } from '@coxswain/apimachinery/time'
import {
  isDNS1035Label,
  isDNS1123Subdomain,
  isValidPathSegmentName,
  isValidPortNum,
} from '@coxswain/apimachinery/validation'
import { decodedLength } from '../core/data.ts'
import { ageCell, nameCell } from '../shared/cells.ts'
import { type Findings, invalidBecause, listOf, numberOf, objectOf, textOf } from '../shared/reading.ts'
import { keepStatusMetadata } from '../shared/status-metadata.ts'
import type { Strategy } from '../strategy.ts'

const maxGroupPriority = 20000
const maxVersionPriority = 1000
const statuses = ['True', 'False', 'Unknown']

export const apiServiceStrategy: Strategy = {
  plainFinalizers: true,
  unconditionalUpdate: false,
  validateName: name => isValidPathSegmentName(name),
  default(object) {
    const { service } = objectOf(object.spec)
    if (isObject(service)) service.port ??= 443
  },
  prepareForCreate(object, { clock }) {
    if (!isObject(objectOf(object.spec).service)) object.status = localStatus(clock.now())
  },
  prepareForStatusUpdate: keepStatusMetadata,
  validate: object => [...validateName(object), ...validateSpec(objectOf(object.spec))],
  validateStatusUpdate: object => validateStatus(object),
  resetFields: subresource =>
    subresource === 'status' ? { reset: ['spec', 'metadata'] } : { reset: ['status'] },
  cells: (object, now) => [
    nameCell(object),
    printService(objectOf(object.spec).service),
    printAvailability(object),
    ageCell(object, now),
  ],
}

/** What this server serves itself is there. */
export function localStatus(now: number): JsonObject {
  return {
    conditions: [
      {
        type: 'Available',
        status: 'True',
        lastTransitionTime: formatTime(now),
        reason: 'Local',
        message: 'Local APIServices are always available',
      },
    ],
  }
}

/** The name is made of the version and the group. */
function* validateName(object: JsonObject): Findings {
  const { version, group } = objectOf(object.spec)
  const required = `${textOf(version)}.${textOf(group)}`
  const metadata = objectOf(object.metadata)
  for (const member of ['generateName', 'name']) {
    const name = textOf(metadata[member])
    if (name === '' || name === required || isValidPathSegmentName(name).length > 0) continue
    yield field.invalid(
      field.Path.of('metadata', member),
      name,
      `must be \`spec.version+"."+spec.group\`: ${JSON.stringify(required)}`,
    )
  }
}

function* validateSpec(spec: JsonObject): Findings {
  const path = field.Path.of('spec')
  const group = textOf(spec.group)
  const version = textOf(spec.version)
  if (group === '' && version !== 'v1')
    yield field.required(path.child('group'), 'only v1 may have an empty group and it better be legacy kube')
  if (group !== '') yield* invalidBecause(path.child('group'), group, isDNS1123Subdomain(group))
  yield* invalidBecause(path.child('version'), version, isDNS1035Label(version))
  yield* validatePriority(spec.groupPriorityMinimum, maxGroupPriority, path.child('groupPriorityMinimum'))
  yield* validatePriority(spec.versionPriority, maxVersionPriority, path.child('versionPriority'))
  const bundle = textOf(spec.caBundle)
  const insecure = spec.insecureSkipTLSVerify === true
  if (!isObject(spec.service)) {
    if (bundle !== '')
      yield field.invalid(
        path.child('caBundle'),
        `${decodedLength(bundle)} bytes`,
        'local APIServices may not have a caBundle',
      )
    if (insecure)
      yield field.invalid(
        path.child('insecureSkipTLSVerify'),
        true,
        'local APIServices may not have insecureSkipTLSVerify',
      )
    return
  }
  yield* validateService(spec.service, path.child('service'))
  if (insecure && bundle !== '')
    yield field.invalid(path.child('insecureSkipTLSVerify'), true, 'may not be true if caBundle is present')
}

function* validatePriority(value: unknown, max: number, path: field.Path): Findings {
  const priority = numberOf(value)
  if (priority <= 0 || priority > max)
    yield field.invalid(path, priority, `must be positive and less than ${max}`)
}

function* validateService(service: JsonObject, path: field.Path): Findings {
  if (textOf(service.namespace) === '') yield field.required(path.child('namespace'))
  if (textOf(service.name) === '') yield field.required(path.child('name'))
  const port = numberOf(service.port)
  const wrong = isValidPortNum(port)
  if (wrong.length > 0)
    yield field.invalid(path.child('port'), port, `port is not valid: ${wrong.join(', ')}`)
}

function* validateStatus(object: JsonObject): Findings {
  const path = field.Path.of('status', 'conditions')
  for (const [index, condition] of listOf(objectOf(object.status).conditions).entries()) {
    const status = textOf(condition.status)
    if (!statuses.includes(status))
      yield field.notSupported(path.index(index).child('status'), status, statuses)
  }
}

function printService(service: unknown): string {
  return isObject(service) ? `${textOf(service.namespace)}/${textOf(service.name)}` : 'Local'
}

function printAvailability(object: JsonObject): string {
  const available = listOf(objectOf(object.status).conditions).find(({ type }) => type === 'Available')
  if (!available) return 'Unknown'
  const status = textOf(available.status)
  const reason = textOf(available.reason)
  return status === 'True' || reason === '' ? status : `${status} (${reason})`
}
