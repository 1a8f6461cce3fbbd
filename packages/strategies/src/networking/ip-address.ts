import type { IPAddress, ParentReference } from '@coxswain/api/networking/v1'
import * as field from '@coxswain/apimachinery/field'
import { deepEqual } from '@coxswain/apimachinery/json'
import { isDNS1123Subdomain, isValidIP, isValidPathSegmentName } from '@coxswain/apimachinery/validation'
import type { Decoded } from '../decoded.ts'
import { defineStrategy } from '../define-strategy.ts'
import { ageCell, nameCell } from '../shared/cells.ts'
import { goValue } from '../shared/go-value.ts'
import { type Findings, invalidBecause, printed } from '../shared/reading.ts'
import type { Strategy } from '../strategy.ts'
import { requireSegment } from './ingress.ts'

const parentPath = field.Path.of('spec', 'parentRef')

/** An allocated address, which is its name; its parent is the object that it is allocated to. */
export const ipAddressStrategy: Strategy = defineStrategy<IPAddress>({
  validateName: name =>
    isValidIP(field.Path.of('name'), name).map(({ body }) => body.slice(body.indexOf('": ') + 3)),
  validate: object => validateParent(object.spec?.parentRef),
  validateUpdate(object, old) {
    const { parentRef } = object.spec ?? {}
    if (deepEqual(parentRef, old.spec?.parentRef)) return []
    return [field.invalid(parentPath, goReference(parentRef), 'field is immutable')]
  },
  extraCells: ['Age'],
  cells: (object, now) => ({
    Name: nameCell(object),
    ParentRef: printParent(object.spec?.parentRef),
    Age: ageCell(object, now),
  }),
})

function goReference(parent: Decoded<ParentReference> | null | undefined): unknown {
  return parent ? printed(goValue('networking.ParentReference', parent)) : null
}

function printParent(parent: Decoded<ParentReference> | null | undefined): string {
  if (!parent) return '<none>'
  const group = parent.group ?? ''
  const resource = parent.resource ?? ''
  const kind = (group === '' ? resource : `${resource}.${group}`).toLowerCase()
  const parts = [kind, parent.namespace ?? '', parent.name ?? '']
  return parts.filter((part, index) => index !== 1 || part !== '').join('/')
}

function* validateParent(parent: Decoded<ParentReference> | null | undefined): Findings {
  if (!parent) {
    yield field.required(parentPath)
    return
  }
  const { group, namespace } = parent as Decoded<ParentReference>
  if ((group ?? '') !== '')
    yield* invalidBecause(parentPath.child('group'), group, isDNS1123Subdomain(group ?? ''))
  yield* requireSegment(parent.resource, parentPath.child('resource'))
  yield* requireSegment(parent.name, parentPath.child('name'))
  if ((namespace ?? '') !== '')
    yield* invalidBecause(parentPath.child('namespace'), namespace, isValidPathSegmentName(namespace ?? ''))
}
