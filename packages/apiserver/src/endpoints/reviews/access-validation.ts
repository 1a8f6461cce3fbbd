import type { FieldError } from '@coxswain/apimachinery/field'
import * as field from '@coxswain/apimachinery/field'
import { isObject, type JsonObject } from '@coxswain/apimachinery/json'
import { validateSelectorAttributes } from './selector-attributes.ts'

type Findings = Generator<FieldError, void, undefined>

const objectOf = (value: unknown): JsonObject => (isObject(value) ? value : {})
const spec = field.Path.of('spec')

export function validateAccessReview(question: JsonObject): FieldError[] {
  return [
    ...validateSubjectSpec(objectOf(question.spec)),
    ...validateNoMetadata(question, [], 'must be empty'),
  ]
}

export function validateOwnAccessReview(question: JsonObject): FieldError[] {
  const { resourceAttributes, nonResourceAttributes } = objectOf(question.spec)
  return [
    ...validateChoice(resourceAttributes, nonResourceAttributes),
    ...validateSelectors(resourceAttributes),
    ...validateNoMetadata(question, [], 'must be empty'),
  ]
}

export function validateLocalAccessReview(question: JsonObject): FieldError[] {
  const { resourceAttributes, nonResourceAttributes } = objectOf(question.spec)
  const errors = [
    ...validateSubjectSpec(objectOf(question.spec)),
    ...validateNoMetadata(question, ['namespace'], 'must be empty except for namespace'),
  ]
  if (isObject(resourceAttributes)) {
    const { namespace = '' } = resourceAttributes
    if (namespace !== objectOf(question.metadata).namespace)
      errors.push(
        field.invalid(
          spec.child('resourceAttributes', 'namespace'),
          namespace,
          'must match metadata.namespace',
        ),
      )
  }
  if (isObject(nonResourceAttributes))
    errors.push(
      field.invalid(
        spec.child('nonResourceAttributes'),
        printNonResource(nonResourceAttributes),
        'disallowed on this kind of request',
      ),
    )
  return errors
}

function* validateSubjectSpec({
  resourceAttributes,
  nonResourceAttributes,
  user,
  groups,
}: JsonObject): Findings {
  yield* validateChoice(resourceAttributes, nonResourceAttributes)
  if (!user && !(Array.isArray(groups) && groups.length > 0))
    yield field.invalid(spec.child('user'), '', 'at least one of user or group must be specified')
  yield* validateSelectors(resourceAttributes)
}

function* validateChoice(resource: unknown, nonResource: unknown): Findings {
  if (isObject(resource) && isObject(nonResource))
    yield field.invalid(
      spec.child('nonResourceAttributes'),
      printNonResource(nonResource),
      'cannot be specified in combination with resourceAttributes',
    )
  if (!isObject(resource) && !isObject(nonResource))
    yield field.invalid(
      spec.child('resourceAttributes'),
      null,
      'exactly one of nonResourceAttributes or resourceAttributes must be specified',
    )
}

function* validateSelectors(resource: unknown): Findings {
  if (isObject(resource)) yield* validateSelectorAttributes(resource, spec.child('resourceAttributes'))
}

function printNonResource({ path = '', verb = '' }: JsonObject): field.Printed {
  return field.Printed.inOrder({ Path: path, Verb: verb })
}

function* validateNoMetadata(question: JsonObject, allowed: readonly string[], detail: string): Findings {
  const metadata = objectOf(question.metadata)
  const names = Object.keys(metadata).filter(name => name !== 'managedFields' && !allowed.includes(name))
  if (names.length > 0)
    yield field.invalid(field.Path.of('metadata'), field.Printed.inOrder(metadata), detail)
}
