import type { FieldError } from '@coxswain/apimachinery/field'
import * as field from '@coxswain/apimachinery/field'
import { isObject, type JsonObject } from '@coxswain/apimachinery/json'
import { type LabelOperator, parseFieldSelector, parseLabelSelector } from '@coxswain/apimachinery/selectors'
import { isValidLabelValue, validateLabelName } from '@coxswain/apimachinery/validation'
import { readFields, readLabels } from '../../authorization/selectors.ts'
import type { Selectors } from '../../request/request-info.ts'

interface SelectorRequirement {
  readonly key?: string
  readonly operator?: string
  readonly values?: readonly string[]
}

interface SelectorAttributes {
  readonly rawSelector?: string
  readonly requirements?: readonly SelectorRequirement[]
}

type Kind = 'fieldSelector' | 'labelSelector'

const requirementsOf = (selector: SelectorAttributes): readonly SelectorRequirement[] =>
  selector.requirements ?? []

/** Validates the selectors of `resourceAttributes`. Unknown operators, of newer clients, are accepted. */
export function* validateSelectorAttributes(
  attributes: JsonObject,
  path: field.Path,
): Generator<FieldError, void, undefined> {
  for (const kind of ['fieldSelector', 'labelSelector'] as const) {
    if (!isObject(attributes[kind])) continue
    const selector = attributes[kind] as SelectorAttributes
    const at = path.child(kind)
    const requirements = requirementsOf(selector)
    if (selector.rawSelector && requirements.length > 0)
      yield field.invalid(
        at.child('rawSelector'),
        selector.rawSelector,
        'may not specified at the same time as requirements',
      )
    if (!selector.rawSelector && requirements.length === 0)
      yield field.required(
        at.child('requirements'),
        `when ${at} is specified, requirements or rawSelector is required`,
      )
    for (const [index, requirement] of requirements.entries())
      yield* validateRequirement(requirement, kind, at.child('requirements').index(index))
  }
}

function* validateRequirement(
  requirement: SelectorRequirement,
  kind: Kind,
  path: field.Path,
): Generator<FieldError, void, undefined> {
  const { key = '', operator, values = [] } = requirement
  if (kind === 'fieldSelector' && key === '') yield field.required(path.child('key'), 'must be specified')
  if ((operator === 'In' || operator === 'NotIn') && values.length === 0)
    yield field.required(path.child('values'), "must be specified when `operator` is 'In' or 'NotIn'")
  if ((operator === 'Exists' || operator === 'DoesNotExist') && values.length > 0)
    yield field.forbidden(
      path.child('values'),
      "may not be specified when `operator` is 'Exists' or 'DoesNotExist'",
    )
  if (kind === 'fieldSelector') return
  yield* validateLabelName(key, path.child('key'))
  for (const [index, value] of values.entries())
    for (const message of isValidLabelValue(value))
      yield field.invalid(path.child('values').index(index), value, message)
}

const labelOperators: Readonly<Record<string, LabelOperator>> = {
  __proto__: null as never,
  In: 'in',
  NotIn: 'notin',
  Exists: 'exists',
  DoesNotExist: '!',
}

/** The supported selectors of `resourceAttributes`: leaving one out makes the question broader. */
export function readSelectorAttributes(attributes: JsonObject): Selectors | undefined {
  const fields = readRequirements(
    attributes.fieldSelector,
    readFields,
    requirement => ({
      field: requirement.key ?? '',
      operator: requirement.operator === 'In' ? ('=' as const) : ('!=' as const),
      value: requirement.values?.[0] ?? '',
    }),
    'fieldSelector',
  )
  const labels = readRequirements(
    attributes.labelSelector,
    readLabels,
    requirement => ({
      key: requirement.key ?? '',
      operator: labelOperators[requirement.operator ?? '']!,
      values: requirement.values ?? [],
    }),
    'labelSelector',
  )
  return fields || labels ? { ...(fields && { fields }), ...(labels && { labels }) } : undefined
}

function readRequirements<T>(
  given: unknown,
  parse: (text: string) => readonly T[] | undefined,
  convert: (requirement: SelectorRequirement) => T,
  kind: Kind,
): readonly T[] | undefined {
  if (!isObject(given)) return undefined
  const selector = given as SelectorAttributes
  const requirements = requirementsOf(selector)
  if (requirements.length === 0) return selector.rawSelector ? parse(selector.rawSelector) : undefined
  const understood = requirements.filter(requirement => isUnderstood(requirement, kind)).map(convert)
  return understood.length > 0 ? understood : undefined
}

/** Which selectors or requirements were not taken into account; empty when all were. */
export function describeSelectorProblems(attributes: JsonObject | undefined): string {
  const problems: string[] = []
  for (const kind of ['fieldSelector', 'labelSelector'] as const) {
    const selector = attributes?.[kind]
    if (!isObject(selector)) continue
    const { understood, total } = countUnderstood(selector as SelectorAttributes, kind)
    if (understood === total) continue
    const part = understood > 0 ? 'partially ignored' : 'ignored'
    problems.push(`spec.resourceAttributes.${kind} ${part} due to parse error`)
  }
  return problems.join('; ')
}

function countUnderstood(selector: SelectorAttributes, kind: Kind): { understood: number; total: number } {
  const requirements = requirementsOf(selector)
  if (requirements.length === 0)
    return { understood: canParse(selector.rawSelector ?? '', kind) ? 1 : 0, total: 1 }
  const understood = requirements.filter(requirement => isUnderstood(requirement, kind)).length
  return { understood, total: requirements.length }
}

function canParse(text: string, kind: Kind): boolean {
  try {
    if (kind === 'fieldSelector') parseFieldSelector(text)
    else parseLabelSelector(text)
    return true
  } catch {
    return false
  }
}

function isUnderstood({ operator = '', values = [] }: SelectorRequirement, kind: Kind): boolean {
  const compares = operator === 'In' || operator === 'NotIn'
  if (kind === 'fieldSelector') return compares && values.length === 1
  return compares || operator === 'Exists' || operator === 'DoesNotExist'
}
