import type { FieldError } from '@coxswain/apimachinery/field'
import * as field from '@coxswain/apimachinery/field'
import { deepEqual, isObject, type JsonObject } from '@coxswain/apimachinery/json'
import { isDNS1123Subdomain, nameIsPathSegment } from '@coxswain/apimachinery/validation'
import { ageCell, nameCell } from '../shared/cells.ts'
import { embedded, struct, text } from '../shared/go-form.ts'
import { type Findings, invalidBecause, listOf, objectOf, printed, textOf } from '../shared/reading.ts'
import type { Strategy } from '../strategy.ts'
import { checkBinding } from './escalation.ts'

const groupName = 'rbac.authorization.k8s.io'

export const roleBindingStrategy: Strategy = createBindingStrategy(['Role', 'ClusterRole'], true)
export const clusterRoleBindingStrategy: Strategy = createBindingStrategy(['ClusterRole'], false)

function createBindingStrategy(roleKinds: readonly string[], namespaced: boolean): Strategy {
  const resource = namespaced ? 'rolebindings' : 'clusterrolebindings'
  return {
    createOnUpdate: true,
    validateName: name => nameIsPathSegment(name, false),
    default: defaultGroups,
    prepareForCreate: (object, context) => checkBinding(resource, object, undefined, context),
    prepareForUpdate: (object, old, context) => checkBinding(resource, object, old, context),
    validate: object => validateBinding(object, roleKinds, namespaced),
    validateUpdate: validateRoleRefUpdate,
    cells: printBinding,
  }
}

function defaultGroups(object: JsonObject): void {
  if (isObject(object.roleRef)) object.roleRef.apiGroup ||= groupName
  for (const subject of listOf(object.subjects))
    if (subject.kind === 'User' || subject.kind === 'Group') subject.apiGroup ||= groupName
}

function* validateBinding(object: JsonObject, roleKinds: readonly string[], namespaced: boolean): Findings {
  const path = field.Path.of('roleRef')
  const { apiGroup, kind, name } = objectOf(object.roleRef)
  if (apiGroup !== groupName) yield field.notSupported(path.child('apiGroup'), textOf(apiGroup), [groupName])
  if (!roleKinds.includes(textOf(kind))) yield field.notSupported(path.child('kind'), textOf(kind), roleKinds)
  if (textOf(name) === '') yield field.required(path.child('name'))
  else yield* invalidBecause(path.child('name'), name, nameIsPathSegment(textOf(name), false))
  for (const [index, subject] of listOf(object.subjects).entries())
    yield* validateSubject(subject, namespaced, field.Path.of('subjects').index(index))
}

function* validateSubject(subject: JsonObject, namespaced: boolean, path: field.Path): Findings {
  const name = textOf(subject.name)
  const apiGroup = textOf(subject.apiGroup)
  if (name === '') yield field.required(path.child('name'))
  switch (subject.kind) {
    case 'ServiceAccount':
      if (name !== '') yield* invalidBecause(path.child('name'), name, isDNS1123Subdomain(name))
      if (apiGroup !== '') yield field.notSupported(path.child('apiGroup'), apiGroup, [''])
      if (!namespaced && textOf(subject.namespace) === '') yield field.required(path.child('namespace'))
      return
    case 'User':
    case 'Group':
      if (apiGroup !== groupName) yield field.notSupported(path.child('apiGroup'), apiGroup, [groupName])
      return
    default:
      yield field.notSupported(path.child('kind'), textOf(subject.kind), ['ServiceAccount', 'User', 'Group'])
  }
}

const roleRefForm = embedded(
  'roleRef',
  struct({ APIGroup: text('apiGroup'), Kind: text('kind'), Name: text('name') }),
)

function validateRoleRefUpdate(object: JsonObject, old: JsonObject): FieldError[] {
  if (deepEqual(roleRefForm(object), roleRefForm(old))) return []
  return [field.invalid(field.Path.of('roleRef'), printed(roleRefForm(object)), 'cannot change roleRef')]
}

function printBinding(object: JsonObject, now: number): readonly unknown[] {
  const { kind, name } = objectOf(object.roleRef)
  const subjects = listOf(object.subjects)
  const named = (wanted: string, print: (subject: JsonObject) => string) =>
    subjects
      .filter(subject => subject.kind === wanted)
      .map(print)
      .join(', ')
  return [
    nameCell(object),
    `${textOf(kind)}/${textOf(name)}`,
    ageCell(object, now),
    named('User', subject => textOf(subject.name)),
    named('Group', subject => textOf(subject.name)),
    named('ServiceAccount', subject => `${textOf(subject.namespace)}/${textOf(subject.name)}`),
  ]
}
