import { followFieldPath, type Schema, type ValidationRule } from '@coxswain/apimachinery/schema'
import {
  type Compilation,
  compileExpression,
  escapeName,
  optionalVariable,
  type Program,
  type SchemaType,
  schemaType,
  typedVariable,
} from '@coxswain/cel'

/** A compiled rule. Errors are in upstream's words. */
export interface CompiledRule {
  readonly rule: ValidationRule
  /** Absent for an empty or invalid rule. */
  readonly program?: Program
  readonly problem?: string
  readonly usesOldSelf: boolean
  /** The maximum cost of one evaluation. */
  readonly cost: number
  readonly message?: Program
  readonly messageProblem?: string
  readonly messageCost: number
  /** The path at which errors are reported, relative to the node of the rule; empty for the node itself. */
  readonly fieldPath: string
}

const nothing = { usesOldSelf: false, cost: 0, messageCost: 0, fieldPath: '' } as const

const compiledRules = new WeakMap<
  ValidationRule,
  { readonly type: SchemaType; readonly made: CompiledRule }
>()

/** Compiles one rule of a schema node, once per schema. */
export function compileRule(rule: ValidationRule, schema: Schema, type: SchemaType): CompiledRule {
  const known = compiledRules.get(rule)
  if (known?.type === type) return known.made
  const made = compile(rule, schema, type)
  compiledRules.set(rule, { type, made })
  return made
}

function compile(rule: ValidationRule, schema: Schema, type: SchemaType): CompiledRule {
  const source = rule.rule ?? ''
  if (source.trim() === '') return { ...nothing, rule }
  const self = typedVariable(type)
  const variables = { self, oldSelf: rule.optionalOldSelf ? optionalVariable(self) : self }
  const compiled = compileExpression(source, { variables })
  if (!compiled.ok) return { ...nothing, rule, problem: describeFailure(compiled) }
  if (compiled.type.kind !== 'bool')
    return { ...nothing, rule, problem: 'cel expression must evaluate to a bool' }
  const { program, cost } = compiled
  const usesOldSelf = program.reads.includes('oldSelf')
  const made = { rule, program, usesOldSelf, cost: cost.max, messageCost: 0, fieldPath: '' }
  if (rule.messageExpression) {
    const message = compileExpression(rule.messageExpression, { variables })
    if (!message.ok) return { ...made, messageProblem: `messageExpression ${describeFailure(message)}` }
    if (message.type.kind !== 'string')
      return { ...made, messageProblem: 'messageExpression must evaluate to a string' }
    return { ...made, message: message.program, messageCost: message.cost.max, ...placeOf(rule, schema) }
  }
  return { ...made, ...placeOf(rule, schema) }
}

function describeFailure({ stage, message }: Extract<Compilation, { ok: false }>): string {
  return stage === 'program' ? `program instantiation failed: ${message}` : `compilation failed: ${message}`
}

function placeOf({ fieldPath }: ValidationRule, schema: Schema): { readonly fieldPath: string } {
  const target = fieldPath ? followFieldPath(fieldPath, schema) : ''
  return { fieldPath: typeof target === 'string' ? '' : String(target.path) }
}

/** The part of a schema that has rules at or below it. Compiled when an object first needs it. */
export class RuleNode {
  readonly schema: Schema
  readonly items: RuleNode | undefined
  readonly values: RuleNode | undefined
  readonly properties: ReadonlyMap<string, RuleNode> | undefined
  readonly #type: () => SchemaType | undefined
  #rules: readonly CompiledRule[] | undefined

  private constructor(schema: Schema, type: () => SchemaType | undefined, below: Below) {
    this.schema = schema
    this.#type = type
    this.items = below.items
    this.values = below.values
    this.properties = below.properties
  }

  /** The rule tree of a schema, or undefined when it has no rules. `isRoot`: the schema is that of a whole resource. */
  static of(schema: Schema, isRoot: boolean): RuleNode | undefined {
    return RuleNode.#make(schema, () => schemaType(schema, isRoot))
  }

  static #make(schema: Schema, type: () => SchemaType | undefined): RuleNode | undefined {
    const { items, additionalProperties, properties = {} } = schema
    const element = () => type()?.element
    const below: Below = {
      items: items && RuleNode.#make(items, element),
      values:
        typeof additionalProperties === 'object' ? RuleNode.#make(additionalProperties, element) : undefined,
      properties: RuleNode.#makeProperties(properties, type),
    }
    const { items: has, values, properties: named } = below
    if (!schema['x-kubernetes-validations']?.length && !has && !values && !named) return undefined
    return new RuleNode(schema, type, below)
  }

  static #makeProperties(
    properties: Readonly<Record<string, Schema>>,
    type: () => SchemaType | undefined,
  ): ReadonlyMap<string, RuleNode> | undefined {
    let made: Map<string, RuleNode> | undefined
    for (const [name, property] of Object.entries(properties)) {
      const node = RuleNode.#make(property, () => propertyType(name, property, type()))
      if (node) {
        made ??= new Map()
        made.set(name, node)
      }
    }
    return made
  }

  /** The CEL type of the schema here; undefined where CEL cannot represent it, and its rules are not evaluated. */
  get type(): SchemaType | undefined {
    return this.#type()
  }

  get rules(): readonly CompiledRule[] {
    this.#rules ??= this.#compile()
    return this.#rules
  }

  #compile(): readonly CompiledRule[] {
    const rules = this.schema['x-kubernetes-validations'] ?? []
    const type = rules.length > 0 ? this.type : undefined
    return type ? rules.map(rule => compileRule(rule, this.schema, type)) : []
  }
}

interface Below {
  readonly items: RuleNode | undefined
  readonly values: RuleNode | undefined
  readonly properties: ReadonlyMap<string, RuleNode> | undefined
}

/** Properties whose names cannot be written in CEL have a type of their own. */
export function propertyType(
  name: string,
  schema: Schema,
  parent: SchemaType | undefined,
): SchemaType | undefined {
  const escaped = escapeName(name)
  if (escaped === undefined) return schemaType(schema, schema['x-kubernetes-embedded-resource'] === true)
  return parent?.fields?.get(escaped)
}

const trees = new WeakMap<Schema, { readonly root: RuleNode | undefined }>()

/** The rules of a resource's schema, built once. */
export function rulesOf(schema: Schema): RuleNode | undefined {
  let tree = trees.get(schema)
  if (!tree) {
    tree = { root: RuleNode.of(schema, true) }
    trees.set(schema, tree)
  }
  return tree.root
}
