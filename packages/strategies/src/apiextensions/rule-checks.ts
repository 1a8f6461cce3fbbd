import type { FieldError } from '@coxswain/apimachinery/field'
import * as field from '@coxswain/apimachinery/field'
import type { Schema, ValidationRule } from '@coxswain/apimachinery/schema'
import { costLimits, type SchemaType, schemaType } from '@coxswain/cel'
import { goValue } from '../shared/go-value.ts'
import { runRulesOf } from './rule-run.ts'
import { type CompiledRule, compileRule, propertyType, RuleNode } from './rule-tree.ts'
import { rulesKey } from './rules.ts'

const largestRequest = 3 * 1024 * 1024
/** How many rules are named when all together are too expensive, and the minimum cost of a named one. */
const mostNamed = 4
const leastNamed = costLimits.perDefinition / 100

/** Options of the checks of CEL rules. */
export interface RuleCheckOptions {
  /** The schema is unchanged: what was accepted before is not rejected for its cost now. */
  readonly unchanged: boolean
  /** Errors of the schema itself; rules around them are not checked. */
  readonly problems: readonly FieldError[]
}

/** Checks the rules of a CRD's schema: those that do not compile, or may cost too much. */
export function checkRules(schema: Schema, path: field.Path, options: RuleCheckOptions): FieldError[] {
  const check = new RuleCheck(options)
  check.visit(schema, {
    path,
    type: once(() => schemaType(schema, true)),
    count: 1,
    uncorrelated: undefined,
  })
  return [...check.errors, ...check.totals(path)]
}

/** The index of the first text that is not less than `text`. */
function lowerBound(sorted: readonly string[], text: string): number {
  let low = 0
  let high = sorted.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (sorted[middle]! < text) low = middle + 1
    else high = middle
  }
  return low
}

interface Place {
  readonly path: field.Path
  readonly type: () => SchemaType | undefined
  /** How often such a value can occur in one object; infinite where only the object's size limits it. */
  readonly count: number
  /** The part of the schema whose old values cannot be correlated. */
  readonly uncorrelated: field.Path | undefined
}

class RuleCheck {
  readonly errors: FieldError[] = []
  readonly #options: RuleCheckOptions
  /** The paths of schema errors, sorted. */
  #problems: readonly string[] | undefined
  #total = 0
  #expensive: { readonly path: field.Path; readonly cost: number }[] = []

  constructor(options: RuleCheckOptions) {
    this.#options = options
  }

  visit(schema: Schema, place: Place): void {
    const { path, type, uncorrelated } = place
    const { additionalProperties, properties, items } = schema
    const count = multiply(place.count, factorOf(schema))
    if (typeof additionalProperties === 'object') {
      this.visit(additionalProperties, {
        path: path.child('additionalProperties'),
        type: once(() => type()?.element),
        count,
        uncorrelated,
      })
    }
    for (const [name, property] of Object.entries(properties ?? {})) {
      this.visit(property, {
        path: path.child('properties').key(name),
        type: once(() => propertyType(name, property, type())),
        count,
        uncorrelated,
      })
    }
    if (items) {
      this.visit(items, {
        path: path.child('items'),
        type: once(() => type()?.element),
        count,
        uncorrelated: schema['x-kubernetes-list-type'] === 'map' ? uncorrelated : path,
      })
    }
    if (schema[rulesKey]?.length) this.#checkNode(schema, schema[rulesKey], place)
  }

  #checkNode(schema: Schema, rules: readonly ValidationRule[], place: Place): void {
    const at = String(place.path)
    if (this.#hasProblem(at)) return
    const path = place.path.child(rulesKey)
    const type = place.type() ?? schemaType(schema, schema['x-kubernetes-embedded-resource'] === true)
    if (!type) {
      const detail =
        'internal error: failed to construct type information for x-kubernetes-validations rules: unable to convert structural schema to CEL declarations'
      this.errors.push(field.internalError(path, detail))
      return
    }
    const count = Number.isFinite(place.count)
      ? place.count
      : Math.floor(largestRequest / (type.minSerializedSize + 1))
    for (const [index, rule] of rules.entries()) {
      this.#checkRule(compileRule(rule, schema, type), path.index(index), { ...place, count })
    }
  }

  /** Whether the schema has an error at a path or below it. */
  #hasProblem(at: string): boolean {
    this.#problems ??= this.#options.problems.map(({ field: name }) => name).sort()
    const sorted = this.#problems
    return [at, `${at}.`, `${at}[`].some((start, exact) => {
      const found = sorted[lowerBound(sorted, start)]
      return exact === 0 ? found === start : found?.startsWith(start)
    })
  }

  #checkRule(compiled: CompiledRule, path: field.Path, { count, uncorrelated }: Place): void {
    const { rule, problem, messageProblem } = compiled
    const rulePath = path.child('rule')
    const messagePath = path.child('messageExpression')
    this.#observe(rulePath, 'estimated rule cost', compiled.cost * count)
    if (problem !== undefined) this.errors.push(field.invalid(rulePath, printRule(rule), problem))
    if (messageProblem !== undefined)
      this.errors.push(field.invalid(messagePath, printRule(rule), messageProblem))
    else if (compiled.message)
      this.#observe(messagePath, 'estimated messageExpression cost', compiled.messageCost)
    if (compiled.usesOldSelf) {
      if (!uncorrelated) return
      const detail = `oldSelf cannot be used on the uncorrelatable portion of the schema within ${uncorrelated}`
      this.errors.push(field.invalid(rulePath, rule.rule, detail))
    } else if (rule.optionalOldSelf !== undefined && rule.optionalOldSelf !== null) {
      const detail = 'may not be set if oldSelf is not used in rule'
      this.errors.push(field.invalid(path.child('optionalOldSelf'), rule.optionalOldSelf, detail))
    }
  }

  #observe(path: field.Path, what: string, cost: number): void {
    if (cost > costLimits.perRule && !this.#options.unchanged)
      this.errors.push(field.forbidden(path, tooExpensive(what, cost, costLimits.perRule)))
    this.#total += cost
    if (cost < leastNamed) return
    this.#expensive.push({ path, cost })
    this.#expensive.sort((a, b) => b.cost - a.cost)
    this.#expensive.length = Math.min(this.#expensive.length, mostNamed)
  }

  totals(path: field.Path): FieldError[] {
    if (this.#total <= costLimits.perDefinition) return []
    const contributed =
      'contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema'
    const what = 'x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema'
    return [
      ...this.#expensive.map(({ path: at }) => field.forbidden(at, contributed)),
      field.forbidden(path, tooExpensive(what, this.#total, costLimits.perDefinition)),
    ]
  }
}

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined
  return () => {
    made ??= { value: make() }
    return made.value
  }
}

/** How many child values a value of the schema can have. */
function factorOf({ type, additionalProperties, maxProperties, maxItems }: Schema): number {
  const bound =
    type === 'array'
      ? (maxItems ?? Number.POSITIVE_INFINITY)
      : type === 'object' && additionalProperties !== undefined
        ? (maxProperties ?? Number.POSITIVE_INFINITY)
        : 1
  return Math.max(0, Number(bound)) // a bound beyond 2^53 is a bigint
}

function multiply(a: number, b: number): number {
  return Number.isFinite(a) && Number.isFinite(b) ? a * b : Number.POSITIVE_INFINITY
}

function tooExpensive(what: string, cost: number, limit: number): string {
  const factor = cost / limit
  const shown =
    factor > 100 ? 'more than 100x' : factor < 1.5 ? `${factor.toFixed(6)}x` : `${factor.toFixed(1)}x`
  return `${what} exceeds budget by factor of ${shown} (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)`
}

function printRule(rule: ValidationRule): field.Printed {
  return field.Printed.inOrder(goValue('apiextensions.ValidationRule', rule))
}

/** Defaults must satisfy the rules too, as a new value and as an unchanged one. */
export function checkDefaults(schema: Schema, path: field.Path): FieldError[] {
  const errors: FieldError[] = []
  visitDefaults(schema, path, true, { errors, budget: costLimits.perObject })
  return errors
}

function visitDefaults(
  schema: Schema,
  path: field.Path,
  isRoot: boolean,
  found: { readonly errors: FieldError[]; budget: number },
): void {
  const { default: value, items, properties = {} } = schema
  const node =
    value !== undefined && value !== null
      ? RuleNode.of(schema, isRoot || schema['x-kubernetes-embedded-resource'] === true)
      : undefined
  if (node) {
    const options = { path: path.child('default'), budget: found.budget }
    const kept = runRulesOf(node, value, value, options)
    for (const error of kept.errors) found.errors.push(error)
    const made = kept.errors.length === 0 ? runRulesOf(node, value, undefined, options) : kept
    if (made !== kept) for (const error of made.errors) found.errors.push(error)
    found.budget = Math.min(kept.budget, made.budget)
  }
  if (items && found.budget >= 0) visitDefaults(items, path.child('items'), false, found)
  for (const [name, property] of Object.entries(properties)) {
    if (found.budget < 0) return
    visitDefaults(property, path.child('properties').key(name), false, found)
  }
}
