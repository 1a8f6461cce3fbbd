import type { FieldError } from '@coxswain/apimachinery/field'
import * as field from '@coxswain/apimachinery/field'
import { isObject } from '@coxswain/apimachinery/json'
import type { Schema, ValidationRule } from '@coxswain/apimachinery/schema'
import { costLimits, type Evaluation } from '@coxswain/cel'
import { encodeText } from '@coxswain/kit'
import { Correlation, itemsByKey } from './correlation.ts'
import { type CompiledRule, type RuleNode, rulesOf } from './rule-tree.ts'

/** The longest result of a message expression, in bytes. */
const longestMessage = 5 * 1024

/** What the rules of an object found. */
export interface RuleFindings {
  readonly errors: readonly FieldError[]
  /** Failing rules whose values an update has not changed. */
  readonly warnings: readonly string[]
  /** The remaining budget; negative when it ran out and rules were skipped. */
  readonly budget: number
}

const noFindings: RuleFindings = { errors: [], warnings: [], budget: costLimits.perObject }

/** Evaluates the rules of a resource's schema for an object; `old` is the object before an update. */
export function runRules(schema: Schema, object: unknown, old: unknown): RuleFindings {
  const root = rulesOf(schema)
  if (!root) return noFindings
  const place: Place = {
    path: field.Path.root,
    current: old === undefined ? undefined : new Correlation(object, old, schema),
    nearest: undefined,
  }
  return new RuleRun(costLimits.perObject).run(root, object, old, place)
}

/** Evaluates the rules of a subschema for a value, without ratcheting. */
export function runRulesOf(
  node: RuleNode,
  value: unknown,
  old: unknown,
  { path, budget }: { readonly path: field.Path; readonly budget: number },
): RuleFindings {
  return new RuleRun(budget).run(node, value, old, { path, current: undefined, nearest: undefined })
}

/** The position of the walk, and how to tell whether the value there has changed. */
interface Place {
  readonly path: field.Path
  /** Absent where the value cannot be correlated with an old one. */
  readonly current: Correlation | undefined
  /** The nearest enclosing value that can be correlated. */
  readonly nearest: Correlation | undefined
}

class RuleRun {
  readonly #errors: FieldError[] = []
  readonly #warnings: string[] = []
  /** Negative when no further rules are evaluated. */
  #budget: number

  constructor(budget: number) {
    this.#budget = budget
  }

  run(node: RuleNode, value: unknown, old: unknown, place: Place): RuleFindings {
    this.#visit(node, value, old, place)
    return { errors: this.#errors, warnings: this.#warnings, budget: this.#budget }
  }

  #visit(node: RuleNode, value: unknown, old: unknown, place: Place): void {
    if (value === null || value === undefined) return
    if (node.rules.length > 0) this.#ask(node, value, old ?? undefined, place)
    if (this.#budget < 0) return
    if (Array.isArray(value)) this.#visitItems(node, value, old, place)
    else if (isObject(value)) {
      const before = isObject(old) ? old : undefined
      for (const name of Object.keys(value)) {
        const child = node.values ?? node.properties?.get(name)
        if (!child) continue
        const path = node.values ? place.path.key(name) : place.path.child(name)
        const was = before && Object.hasOwn(before, name) ? before[name] : undefined
        this.#visit(child, value[name], was, keyPlace(place, path, name))
        if (this.#budget < 0) return
      }
    }
  }

  #visitItems(node: RuleNode, value: readonly unknown[], old: unknown, place: Place): void {
    const { items } = node
    if (!items) return
    const oldItem = itemsByKey(node.schema, Array.isArray(old) ? old : [])
    for (const [index, item] of value.entries()) {
      const { current } = place
      const path = place.path.index(index)
      const next = current ? { path, current: current.index(index), nearest: current } : { ...place, path }
      this.#visit(items, item, oldItem(item), next)
      if (this.#budget < 0) return
    }
  }

  #ask(node: RuleNode, value: unknown, old: unknown, place: Place): void {
    const type = node.schema.type ?? ''
    const fail = (detail: string) => void this.#errors.push(field.invalid(place.path, type, detail))
    if (this.#budget <= 0) {
      fail(outOfBudget)
      this.#budget = -1
      return
    }
    for (const compiled of node.rules) {
      const { rule, program, problem } = compiled
      if (problem !== undefined) fail(`rule compile error: ${problem}`)
      if (!program) continue
      if (compiled.usesOldSelf && old === undefined && !rule.optionalOldSelf) continue
      // An optional oldSelf without a value is null.
      const values = { self: value, oldSelf: old ?? (rule.optionalOldSelf ? null : undefined) }
      const result = program.evaluate(values)
      if (!this.#spend(result)) {
        fail(outOfBudget)
        return
      }
      if (!result.ok) {
        const { error } = result
        const source = ruleText(rule)
        if (error.startsWith('no such overload')) {
          fail(
            `'${error}': call arguments did not match a supported operator, function or macro signature for rule: ${source}`,
          )
        } else if (result.costExceeded) {
          fail(
            `'${error}': no further validation rules will be run due to call cost exceeds limit for rule: ${source}`,
          )
          this.#budget = -1
          return
        } else fail(`${error} evaluating rule: ${source}`)
      } else if (result.value !== true && !this.#refuse(node, compiled, values, place)) return
    }
  }

  /** Deducts the cost of an evaluation from the budget. */
  #spend({ cost }: Evaluation): boolean {
    if (cost > this.#budget) this.#budget = -1
    else this.#budget -= cost
    return this.#budget >= 0
  }

  /** Reports that a rule does not hold. Returns false when no further rules are to be evaluated. */
  #refuse(
    node: RuleNode,
    compiled: CompiledRule,
    values: { readonly self: unknown; readonly oldSelf: unknown },
    place: Place,
  ): boolean {
    const { rule, fieldPath } = compiled
    const { type = '' } = node.schema
    const path = fieldPath === '' ? place.path : place.path.child(fieldPath)
    const add = (error: FieldError) => {
      if (!compiled.usesOldSelf && isUnchanged(place)) this.#warnings.push(field.formatFieldError(error))
      else this.#errors.push(error)
    }
    let detail: string | undefined
    if (compiled.message) {
      const result = compiled.message.evaluate(values)
      const problem = !this.#spend(result)
        ? 'messageExpression evaluation failed due to running out of cost budget, no further validation rules will be run'
        : !result.ok && result.costExceeded
          ? `no further validation rules will be run due to call cost exceeds limit for messageExpression: ${JSON.stringify(rule.messageExpression)}`
          : undefined
      if (problem !== undefined) {
        add(field.invalid(path, type, problem))
        this.#budget = -1
        return false
      }
      detail = result.ok ? usableMessage(result.value) : undefined
    }
    detail ??= rule.message ? rule.message.trim() : `failed rule: ${ruleText(rule)}`
    const shown = type === 'object' || type === 'array' ? field.omitValue : values.self
    add(errorFor(rule.reason, path, shown, detail))
    return true
  }
}

const outOfBudget =
  'validation failed due to running out of cost budget, no further validation rules will be run'

/** For a value that cannot be correlated, the nearest enclosing one decides. apiVersion and kind are never ratcheted. */
function keyPlace(place: Place, path: field.Path, name: string): Place {
  const { current, nearest } = place
  if (!current) return { ...place, path }
  if (!nearest && (name === 'apiVersion' || name === 'kind'))
    return { path, current: undefined, nearest: undefined }
  return { path, current: current.key(name), nearest: current }
}

function isUnchanged({ current, nearest }: Place): boolean {
  return (current ?? nearest)?.isUnchanged === true
}

function usableMessage(value: unknown): string | undefined {
  if (typeof value !== 'string') return undefined
  const text = value.trim()
  const isUsable = text !== '' && !text.includes('\n') && encodeText(text).length <= longestMessage
  return isUsable ? text : undefined
}

function ruleText({ rule, message }: ValidationRule): string {
  return (message || rule).trim()
}

function errorFor(
  reason: ValidationRule['reason'],
  path: field.Path,
  value: unknown,
  detail: string,
): FieldError {
  switch (reason) {
    case 'FieldValueForbidden':
      return field.forbidden(path, detail)
    case 'FieldValueRequired':
      return field.required(path, detail)
    case 'FieldValueDuplicate':
      return field.duplicate(path, value)
    default:
      return field.invalid(path, value, detail)
  }
}
