import { joinErrors } from '@coxswain/apimachinery/errors'
import type { JsonObject } from '@coxswain/apimachinery/json'
import {
  boolType,
  type CelType,
  compileExpression,
  costLimits,
  formatType,
  jsonValue,
  kubernetesEnvironment,
  listOf,
  mapOf,
  type Program,
  stringType,
} from '@coxswain/cel'

function objectOf(name: string, fields: Readonly<Record<string, CelType>>): CelType {
  return {
    kind: 'object',
    name: `kubernetes.${name}`,
    params: [],
    fields: field => (Object.hasOwn(fields, field) ? fields[field] : undefined),
  }
}

const texts = listOf(stringType)
const requirement = objectOf('SelectorRequirement', { key: stringType, operator: stringType, values: texts })
const selectorFields = { rawSelector: stringType, requirements: listOf(requirement) }
const requestType = objectOf('SubjectAccessReviewSpec', {
  resourceAttributes: objectOf('ResourceAttributes', {
    namespace: stringType,
    verb: stringType,
    group: stringType,
    version: stringType,
    resource: stringType,
    subresource: stringType,
    name: stringType,
    fieldSelector: objectOf('FieldSelectorAttributes', selectorFields),
    labelSelector: objectOf('LabelSelectorAttributes', selectorFields),
  }),
  nonResourceAttributes: objectOf('NonResourceAttributes', { path: stringType, verb: stringType }),
  user: stringType,
  groups: texts,
  extra: mapOf(stringType, texts),
  uid: stringType,
})

/** Whether to call the webhook for a review; a text when the conditions could not be evaluated. */
export type MatchConditions = (spec: JsonObject) => boolean | string

export type CompiledConditions =
  | { readonly ok: true; readonly matches: MatchConditions }
  /** A condition and its error. */
  | { readonly ok: false; readonly index: number; readonly error: string }

/** Compiles expressions over `request`, the spec of a SubjectAccessReview. */
export function compileMatchConditions(expressions: readonly string[]): CompiledConditions {
  const programs: { readonly source: string; readonly program: Program }[] = []
  for (const [index, source] of expressions.entries()) {
    const made = compileExpression(source, {
      environment: kubernetesEnvironment(),
      variables: { request: { type: requestType, convert: jsonValue } },
    })
    if (!made.ok) {
      const stage = made.stage === 'compilation' ? 'compilation failed' : 'program instantiation failed'
      return { ok: false, index, error: `${stage}: ${made.message}` }
    }
    if (formatType(made.type) !== formatType(boolType))
      return { ok: false, index, error: `must evaluate to bool but got ${formatType(made.type)}` }
    programs.push({ source, program: made.program })
  }
  const matches: MatchConditions = spec => {
    const request = withEveryField(spec)
    const errors: string[] = []
    for (const { source, program } of programs) {
      const result = program.evaluate({ request }, { costLimit: costLimits.perCall })
      if (!result.ok)
        errors.push(`cel evaluation error: expression '${source}' resulted in error: ${result.error}`)
      else if (result.value !== true) return false
    }
    return errors.length === 0 ? true : joinErrors(errors)
  }
  return { ok: true, matches }
}

const resourceTexts = ['namespace', 'verb', 'group', 'version', 'resource', 'subresource', 'name'] as const

/** Expressions see every scalar field, even one that a review omits because it is empty. */
function withEveryField(spec: JsonObject): JsonObject {
  const resource = spec.resourceAttributes as JsonObject | undefined
  const nonResource = spec.nonResourceAttributes as JsonObject | undefined
  const empty = Object.fromEntries(resourceTexts.map(name => [name, '']))
  return {
    user: '',
    groups: [],
    uid: '',
    extra: {},
    ...spec,
    ...(resource && { resourceAttributes: { ...empty, ...resource } }),
    ...(nonResource && { nonResourceAttributes: { path: '', verb: '', ...nonResource } }),
  }
}
