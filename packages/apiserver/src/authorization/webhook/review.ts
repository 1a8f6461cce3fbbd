import type { JsonObject } from '@coxswain/apimachinery/json'
import type { FieldRequirement, Requirement } from '@coxswain/apimachinery/selectors'
import type { Selectors } from '../../request/request-info.ts'
import type { Access } from '../authorizer.ts'

/** The `spec` of a SubjectAccessReview (v1) for an access. Empty members are omitted, as in Go. */
export function reviewSpecOf({ user, info }: Access): JsonObject {
  const attributes = info.isResource
    ? {
        resourceAttributes: {
          ...withoutEmpty({
            namespace: info.namespace,
            verb: info.verb,
            group: info.group,
            version: info.version,
            resource: info.resource,
            subresource: info.subresource,
            name: info.name,
          }),
          ...printSelectors(info.selectors),
        },
      }
    : { nonResourceAttributes: withoutEmpty({ path: info.path, verb: info.verb }) }
  return {
    ...attributes,
    ...withoutEmpty({ user: user.name }),
    ...(user.groups.length > 0 && { groups: user.groups }),
    ...(user.extra && { extra: user.extra }),
    ...(user.uid && { uid: user.uid }),
  }
}

function withoutEmpty(fields: Readonly<Record<string, string>>): JsonObject {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== ''))
}

function printSelectors({ fields = [], labels = [] }: Selectors = {}): JsonObject {
  const known = labels.flatMap(printLabel)
  return {
    ...(fields.length > 0 && { fieldSelector: { requirements: fields.map(printField) } }),
    ...(known.length > 0 && { labelSelector: { requirements: known } }),
  }
}

function printField({ field, operator, value }: FieldRequirement): JsonObject {
  return { key: field, operator: operator === '!=' ? 'NotIn' : 'In', values: [value] }
}

const labelOperators: Readonly<Partial<Record<Requirement['operator'], string>>> = {
  '=': 'In',
  '==': 'In',
  in: 'In',
  '!=': 'NotIn',
  notin: 'NotIn',
  exists: 'Exists',
  '!': 'DoesNotExist',
}

/** Requirements that a review cannot express are omitted: that asks for more access, never for less. */
function printLabel({ key, operator, values }: Requirement): JsonObject[] {
  const word = labelOperators[operator]
  if (word === undefined) return []
  return [{ key, operator: word, ...(values.length > 0 && { values }) }]
}
