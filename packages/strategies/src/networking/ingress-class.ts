import * as field from '@coxswain/apimachinery/field'
import { isObject, type JsonObject } from '@coxswain/apimachinery/json'
import {
  isDNS1123Subdomain,
  nameIsDNSLabel,
  regexError,
  validateImmutableField,
} from '@coxswain/apimachinery/validation'
import { ageCell, nameCell } from '../shared/cells.ts'
import { type Findings, invalidBecause, objectOf, recordOf, textOf } from '../shared/reading.ts'
import type { Strategy } from '../strategy.ts'
import { validateTypedReference } from './ingress.ts'

/** The class of ingresses that name none. */
export const defaultClassAnnotation: string = 'ingressclass.kubernetes.io/is-default-class'
const maxControllerLength = 250
const httpPath = "[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+"
const httpPathPattern = new RegExp(`^${httpPath}$`)
const scopes = ['Cluster', 'Namespace']
const specPath = field.Path.of('spec')

export const ingressClassStrategy: Strategy = {
  generation: true,
  default(object) {
    const { parameters } = objectOf(object.spec)
    if (isObject(parameters)) parameters.scope ??= 'Cluster'
  },
  validate(object, _context, old) {
    const spec = objectOf(object.spec)
    const path = specPath.child('controller')
    return [
      ...(old
        ? validateImmutableField(textOf(spec.controller), textOf(objectOf(old.spec).controller), path)
        : []),
      ...validateController(textOf(spec.controller), path),
      ...validateParameters(spec.parameters, specPath.child('parameters')),
    ]
  },
  cells(object, now) {
    const spec = objectOf(object.spec)
    const isDefault = recordOf(objectOf(object.metadata).annotations)[defaultClassAnnotation] === 'true'
    return [
      isDefault ? `${nameCell(object)} (default)` : nameCell(object),
      textOf(spec.controller),
      printParameters(spec.parameters),
      ageCell(object, now),
    ]
  },
}

function printParameters(parameters: unknown): string {
  if (!isObject(parameters)) return '<none>'
  const group = parameters.apiGroup === undefined ? '' : `.${parameters.apiGroup}`
  return `${textOf(parameters.kind)}${group}/${textOf(parameters.name)}`
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

function* validateParameters(parameters: unknown, path: field.Path): Findings {
  if (!isObject(parameters)) return
  yield* validateTypedReference(parameters, path)
  yield* validateScope(parameters, path)
}

function* validateScope({ scope, namespace }: JsonObject, path: field.Path): Findings {
  const at = path.child('namespace')
  if (!scopes.includes(textOf(scope))) yield field.notSupported(path.child('scope'), textOf(scope), scopes)
  else if (scope === 'Namespace') {
    if (namespace === undefined) yield field.required(at, "`parameters.scope` is set to 'Namespace'")
    else yield* invalidBecause(at, namespace, nameIsDNSLabel(textOf(namespace), false))
  } else if (namespace !== undefined) yield field.forbidden(at, "`parameters.scope` is set to 'Cluster'")
}
