import type { RoleBinding, Subject } from '@coxswain/api/rbac/v1'
import type { FieldError } from '@coxswain/apimachinery/field'
import * as field from '@coxswain/apimachinery/field'
import { deepEqual } from '@coxswain/apimachinery/json'
import { isDNS1123Subdomain, nameIsPathSegment } from '@coxswain/apimachinery/validation'
import type { Decoded } from '../decoded.ts'
import { defineStrategy } from '../define-strategy.ts'
import { ageCell, nameCell } from '../shared/cells.ts'
import { goValue } from '../shared/go-value.ts'
import { type Findings, invalidBecause, printed } from '../shared/reading.ts'
import type { Strategy, TableCells } from '../strategy.ts'
import { checkBinding } from './escalation.ts'

const groupName = 'rbac.authorization.k8s.io'

interface BindingRules {
  readonly resource: 'rolebindings' | 'clusterrolebindings'
  /** The kinds of roles that it may refer to. */
  readonly roleKinds: readonly string[]
}

/** The rules of RoleBindings and ClusterRoleBindings, which have the same fields. */
export function createBindingStrategy({ resource, roleKinds }: BindingRules): Strategy {
  return defineStrategy<RoleBinding>({
    createOnUpdate: true,
    validateName: name => nameIsPathSegment(name, false),
    default: defaultGroups,
    prepareForCreate: (object, context) => checkBinding(resource, object, undefined, context),
    prepareForUpdate: (object, old, context) => checkBinding(resource, object, old, context),
    validate: object => validateBinding(object, { resource, roleKinds }),
    validateUpdate: validateRoleRefUpdate,
    cells: printBinding,
  })
}

function defaultGroups(object: Decoded<RoleBinding>): void {
  if (object.roleRef) object.roleRef.apiGroup ||= groupName
  for (const subject of object.subjects ?? [])
    if (subject.kind === 'User' || subject.kind === 'Group') subject.apiGroup ||= groupName
}

function* validateBinding(object: Decoded<RoleBinding>, { resource, roleKinds }: BindingRules): Findings {
  const path = field.Path.of('roleRef')
  const { apiGroup, kind, name } = object.roleRef ?? {}
  if (apiGroup !== groupName) yield field.notSupported(path.child('apiGroup'), apiGroup ?? '', [groupName])
  if (!roleKinds.includes(kind ?? '')) yield field.notSupported(path.child('kind'), kind ?? '', roleKinds)
  if ((name ?? '') === '') yield field.required(path.child('name'))
  else yield* invalidBecause(path.child('name'), name, nameIsPathSegment(name ?? '', false))
  for (const [index, subject] of (object.subjects ?? []).entries())
    yield* validateSubject(subject, resource, field.Path.of('subjects').index(index))
}

function* validateSubject(
  subject: Decoded<Subject>,
  resource: BindingRules['resource'],
  path: field.Path,
): Findings {
  const name = subject.name ?? ''
  const apiGroup = subject.apiGroup ?? ''
  if (name === '') yield field.required(path.child('name'))
  switch (subject.kind) {
    case 'ServiceAccount':
      if (name !== '') yield* invalidBecause(path.child('name'), name, isDNS1123Subdomain(name))
      if (apiGroup !== '') yield field.notSupported(path.child('apiGroup'), apiGroup, [''])
      if (resource === 'clusterrolebindings' && (subject.namespace ?? '') === '')
        yield field.required(path.child('namespace'))
      return
    case 'User':
    case 'Group':
      if (apiGroup !== groupName) yield field.notSupported(path.child('apiGroup'), apiGroup, [groupName])
      return
    default:
      yield field.notSupported(path.child('kind'), subject.kind ?? '', ['ServiceAccount', 'User', 'Group'])
  }
}

const printRoleRef = ({ roleRef }: Decoded<RoleBinding>) => goValue('rbac.RoleRef', roleRef ?? {})

function validateRoleRefUpdate(object: Decoded<RoleBinding>, old: Decoded<RoleBinding>): FieldError[] {
  if (deepEqual(printRoleRef(object), printRoleRef(old))) return []
  return [field.invalid(field.Path.of('roleRef'), printed(printRoleRef(object)), 'cannot change roleRef')]
}

function printBinding(object: Decoded<RoleBinding>, now: number): TableCells {
  const { kind, name } = object.roleRef ?? {}
  const subjects = object.subjects ?? []
  const named = (wanted: string, print: (subject: Decoded<Subject>) => string) =>
    subjects
      .filter(subject => subject.kind === wanted)
      .map(print)
      .join(', ')
  return {
    Name: nameCell(object),
    Role: `${kind ?? ''}/${name ?? ''}`,
    Age: ageCell(object, now),
    Users: named('User', subject => subject.name ?? ''),
    Groups: named('Group', subject => subject.name ?? ''),
    ServiceAccounts: named('ServiceAccount', subject => `${subject.namespace ?? ''}/${subject.name ?? ''}`),
  }
}
