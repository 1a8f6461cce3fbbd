import type { IngressClass, IngressClassParametersReference } from '@coxswain/api/networking/v1'
import * as field from '@coxswain/apimachinery/field'
import {
  isDNS1123Subdomain,
  nameIsDNSLabel,
  regexError,
  validateImmutableField,
} from '@coxswain/apimachinery/validation'
import type { Decoded } from '../decoded.ts'
import { defineStrategy } from '../define-strategy.ts'
import { ageCell, nameCell } from '../shared/cells.ts'
import { type Findings, invalidBecause } from '../shared/reading.ts'
import type { Strategy } from '../strategy.ts'
import { validateTypedReference } from './ingress.ts'

/** The class of ingresses that name none. */
export const defaultClassAnnotation: string = 'ingressclass.kubernetes.io/is-default-class'
const maxControllerLength = 250
const httpPath = "[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+"
const httpPathPattern = new RegExp(`^${httpPath}$`)
const scopes = ['Cluster', 'Namespace']
const specPath = field.Path.of('spec')

export const ingressClassStrategy: Strategy = defineStrategy<IngressClass>({
  generation: true,
  default(object) {
    const { parameters } = object.spec ?? {}
    if (parameters) parameters.scope ??= 'Cluster'
  },
  validate(object, _context, old) {
    const spec = object.spec ?? {}
    const path = specPath.child('controller')
    return [
      ...(old ? validateImmutableField(spec.controller ?? '', old.spec?.controller ?? '', path) : []),
      ...validateController(spec.controller ?? '', path),
      ...validateParameters(spec.parameters, specPath.child('parameters')),
    ]
  },
  cells(object, now) {
    const spec = object.spec ?? {}
    const isDefault = object.metadata.annotations?.[defaultClassAnnotation] === 'true'
    return {
      Name: isDefault ? `${nameCell(object)} (default)` : nameCell(object),
      Controller: spec.controller ?? '',
      Parameters: printParameters(spec.parameters),
      Age: ageCell(object, now),
    }
  },
})

function printParameters(parameters: Decoded<IngressClassParametersReference> | null | undefined): string {
  if (!parameters) return '<none>'
  const group = parameters.apiGroup === undefined ? '' : `.${parameters.apiGroup}`
  return `${parameters.kind ?? ''}${group}/${parameters.name ?? ''}`
}

function* validateController(controller: string, path: field.Path): Findings {
  if (controller.length > maxControllerLength) yield field.tooLong(path, maxControllerLength)
  if (controller === '') {
    yield field.required(path)
    return
  }
  const slash = controller.indexOf('/')
  const host = controller.slice(0, slash)
  const rest = controller.slice(slash + 1)
  if (slash < 1 || rest === '') {
    yield field.invalid(path, controller, 'must be a domain-prefixed path (such as "acme.io/foo")')
    return
  }
  yield* invalidBecause(path, host, isDNS1123Subdomain(host))
  if (!httpPathPattern.test(rest)) yield field.invalid(path, rest, regexError('Invalid path', httpPath))
}

function* validateParameters(
  parameters: Decoded<IngressClassParametersReference> | null | undefined,
  path: field.Path,
): Findings {
  if (!parameters) return
  yield* validateTypedReference(parameters, path)
  yield* validateScope(parameters, path)
}

function* validateScope(
  { scope, namespace }: Decoded<IngressClassParametersReference>,
  path: field.Path,
): Findings {
  const at = path.child('namespace')
  if (!scopes.includes(scope ?? '')) yield field.notSupported(path.child('scope'), scope ?? '', scopes)
  else if (scope === 'Namespace') {
    if (namespace === undefined) yield field.required(at, "`parameters.scope` is set to 'Namespace'")
    else yield* invalidBecause(at, namespace, nameIsDNSLabel(namespace ?? '', false))
  } else if (namespace !== undefined) yield field.forbidden(at, "`parameters.scope` is set to 'Cluster'")
}
