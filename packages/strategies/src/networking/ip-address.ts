import * as field from '@coxswain/apimachinery/field'
import { deepEqual, isObject, type JsonObject } from '@coxswain/apimachinery/json'
import { isDNS1123Subdomain, isValidIP, isValidPathSegmentName } from '@coxswain/apimachinery/validation'
import { ageCell, nameCell } from '../shared/cells.ts'
import { type Findings, invalidBecause, objectOf, printed, textOf } from '../shared/reading.ts'
import type { Strategy } from '../strategy.ts'
import { requireSegment } from './ingress.ts'

const parentPath = field.Path.of('spec', 'parentRef')

/** One address that is taken, named after the address; its parent is what has taken it. */
export const ipAddressStrategy: Strategy = {
  validateName: name =>
    isValidIP(field.Path.of('name'), name).map(({ body }) => body.slice(body.indexOf('": ') + 3)),
  validate: object => validateParent(objectOf(object.spec).parentRef),
  validateUpdate(object, old) {
    const { parentRef } = objectOf(object.spec)
    if (deepEqual(parentRef, objectOf(old.spec).parentRef)) return []
    return [field.invalid(parentPath, goReference(parentRef), 'field is immutable')]
  },
  cells: (object, now) => [
    nameCell(object),
    printParent(objectOf(object.spec).parentRef),
    ageCell(object, now),
  ],
}

/** Upstream prints its internal type. */
function goReference(parent: unknown): unknown {
  if (!isObject(parent)) return null
  const { group, resource, namespace, name } = parent
  return printed({
    Group: textOf(group),
    Resource: textOf(resource),
    Namespace: textOf(namespace),
    Name: textOf(name),
  })
}

function printParent(parent: unknown): string {
  if (!isObject(parent)) return '<none>'
  const group = textOf(parent.group)
  const resource = textOf(parent.resource)
  const kind = (group === '' ? resource : `${resource}.${group}`).toLowerCase()
  const parts = [kind, textOf(parent.namespace), textOf(parent.name)]
  return parts.filter((part, index) => index !== 1 || part !== '').join('/')
}

function* validateParent(parent: unknown): Findings {
  if (!isObject(parent)) {
    yield field.required(parentPath)
    return
  }
  const { group, namespace } = parent as JsonObject
  if (textOf(group) !== '')
    yield* invalidBecause(parentPath.child('group'), group, isDNS1123Subdomain(textOf(group)))
  yield* requireSegment(parent.resource, parentPath.child('resource'))
  yield* requireSegment(parent.name, parentPath.child('name'))
  if (textOf(namespace) !== '')
    yield* invalidBecause(parentPath.child('namespace'), namespace, isValidPathSegmentName(textOf(namespace)))
}
