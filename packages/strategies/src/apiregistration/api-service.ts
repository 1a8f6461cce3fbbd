import type {
  APIService,
  APIServiceSpec,
  APIServiceStatus,
  ServiceReference,
} from '@coxswain/api/apiregistration/v1'
import * as field from '@coxswain/apimachinery/field'
import { formatTime } from '@coxswain/apimachinery/time'
import {
  isDNS1035Label,
  isDNS1123Subdomain,
  isValidPathSegmentName,
  isValidPortNum,
} from '@coxswain/apimachinery/validation'
import { decodedLength } from '../core/data.ts'
import type { Decoded } from '../decoded.ts'
import { defineStrategy } from '../define-strategy.ts'
import { ageCell, nameCell } from '../shared/cells.ts'
import { type Findings, invalidBecause, numberOf } from '../shared/reading.ts'
import { keepStatusMetadata } from '../shared/status-metadata.ts'
import type { Strategy } from '../strategy.ts'

const maxGroupPriority = 20000
const maxVersionPriority = 1000
const statuses = ['True', 'False', 'Unknown']

export const apiServiceStrategy: Strategy = defineStrategy<APIService>({
  plainFinalizers: true,
  unconditionalUpdate: false,
  validateName: name => isValidPathSegmentName(name),
  default(object) {
    const { service } = object.spec ?? {}
    if (service) service.port ??= 443
  },
  prepareForCreate(object, { clock }) {
    if (!object.spec?.service) object.status = localStatus(clock.now())
  },
  prepareForStatusUpdate: keepStatusMetadata,
  validate: object => [...validateName(object), ...validateSpec(object.spec ?? {})],
  validateStatusUpdate: object => validateStatus(object),
  resetFields: subresource =>
    subresource === 'status' ? { reset: ['spec', 'metadata'] } : { reset: ['status'] },
  cells: (object, now) => ({
    Name: nameCell(object),
    Service: printService(object.spec?.service),
    Available: printAvailability(object),
    Age: ageCell(object, now),
  }),
})

/** A local APIService is always available. */
export function localStatus(now: number): Decoded<APIServiceStatus> {
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
function* validateName(object: Decoded<APIService>): Findings {
  const { version, group } = object.spec ?? {}
  const required = `${version ?? ''}.${group ?? ''}`
  const metadata = object.metadata
  for (const member of ['generateName', 'name'] as const) {
    const name = metadata[member] ?? ''
    if (name === '' || name === required || isValidPathSegmentName(name).length > 0) continue
    yield field.invalid(
      field.Path.of('metadata', member),
      name,
      `must be \`spec.version+"."+spec.group\`: ${JSON.stringify(required)}`,
    )
  }
}

function* validateSpec(spec: Decoded<APIServiceSpec>): Findings {
  const path = field.Path.of('spec')
  const group = spec.group ?? ''
  const version = spec.version ?? ''
  if (group === '' && version !== 'v1')
    yield field.required(path.child('group'), 'only v1 may have an empty group and it better be legacy kube')
  if (group !== '') yield* invalidBecause(path.child('group'), group, isDNS1123Subdomain(group))
  yield* invalidBecause(path.child('version'), version, isDNS1035Label(version))
  yield* validatePriority(spec.groupPriorityMinimum, maxGroupPriority, path.child('groupPriorityMinimum'))
  yield* validatePriority(spec.versionPriority, maxVersionPriority, path.child('versionPriority'))
  const bundle = spec.caBundle ?? ''
  const insecure = spec.insecureSkipTLSVerify === true
  if (!spec.service) {
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

function* validatePriority(value: number | null | undefined, max: number, path: field.Path): Findings {
  const priority = numberOf(value)
  if (priority <= 0 || priority > max)
    yield field.invalid(path, priority, `must be positive and less than ${max}`)
}

function* validateService(service: Decoded<ServiceReference>, path: field.Path): Findings {
  if ((service.namespace ?? '') === '') yield field.required(path.child('namespace'))
  if ((service.name ?? '') === '') yield field.required(path.child('name'))
  const port = numberOf(service.port)
  const wrong = isValidPortNum(port)
  if (wrong.length > 0)
    yield field.invalid(path.child('port'), port, `port is not valid: ${wrong.join(', ')}`)
}

function* validateStatus(object: Decoded<APIService>): Findings {
  const path = field.Path.of('status', 'conditions')
  for (const [index, condition] of (object.status?.conditions ?? []).entries()) {
    const status = condition.status ?? ''
    if (!statuses.includes(status))
      yield field.notSupported(path.index(index).child('status'), status, statuses)
  }
}

function printService(service: Decoded<ServiceReference> | null | undefined): string {
  return service ? `${service.namespace ?? ''}/${service.name ?? ''}` : 'Local'
}

function printAvailability(object: Decoded<APIService>): string {
  const available = (object.status?.conditions ?? []).find(({ type }) => type === 'Available')
  if (!available) return 'Unknown'
  const status = available.status ?? ''
  const reason = available.reason ?? ''
  return status === 'True' || reason === '' ? status : `${status} (${reason})`
}
