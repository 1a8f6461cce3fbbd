import { builtinSchema } from '@coxswain/api'
import { mergeConfiguration } from '@coxswain/apimachinery/apply'
import { isMachineryError } from '@coxswain/apimachinery/errors'
import { isObject, type JsonObject } from '@coxswain/apimachinery/json'
import { applyJsonPatch, decodeJsonPatch } from '@coxswain/apimachinery/patch'
import type { Schema } from '@coxswain/apimachinery/schema'
import { toJson, typeNameErrors, type Value } from '@coxswain/cel'
import { type CompiledExpression, compileAdmissionExpression } from '@coxswain/strategies'
import type { Attributes } from '../attributes.ts'
import { budgets, evaluateAll, type Inputs } from '../expressions/activation.ts'
import type { Equivalent } from '../matching/equivalents.ts'
import { readChanged } from '../versions.ts'
import { compilePolicy, type Policy } from './policy-source.ts'

export interface Mutation {
  readonly patchType: 'ApplyConfiguration' | 'JSONPatch'
  readonly expression: CompiledExpression
}

export interface MutatingPolicy extends Policy {
  readonly mutations: readonly Mutation[]
  readonly isReinvocable: boolean
}

export function compileMutatingPolicy(name: string, spec: JsonObject): MutatingPolicy {
  const { options, ...policy } = compilePolicy(name, spec)
  const mutations = Array.isArray(spec.mutations) ? spec.mutations.filter(isObject) : []
  return {
    ...policy,
    mutations: mutations.map(mutation => compileMutation(mutation, { ...options, patchTypes: true })),
    isReinvocable: spec.reinvocationPolicy === 'IfNeeded',
  }
}

function compileMutation(
  { patchType, jsonPatch, applyConfiguration }: JsonObject,
  options: Parameters<typeof compileAdmissionExpression>[2],
): Mutation {
  const isPatch = patchType === 'JSONPatch'
  const given = isPatch ? jsonPatch : applyConfiguration
  const source = isObject(given) ? String(given.expression ?? '') : ''
  const returns = isPatch ? 'jsonPatch' : 'applyConfiguration'
  return {
    patchType: isPatch ? 'JSONPatch' : 'ApplyConfiguration',
    expression: compileAdmissionExpression(source, returns, options),
  }
}

export type Mutated =
  | { readonly ok: true; readonly object: JsonObject }
  | { readonly ok: false; readonly error: string }

/** The result of a mutation's expression, before it is applied. */
export type EvaluatedMutation =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly error: string }

export function evaluateMutation({ expression }: Mutation, inputs: Inputs): EvaluatedMutation {
  if (!expression.ok) return expression
  const evaluated = evaluateAll([expression], inputs, budgets.policy)
  if (!evaluated.ok) return evaluated
  return evaluated.results[0]!
}

/** Applies a mutation to `object`. */
export function applyMutation(
  ...[attributes, matched, object, { patchType }, value]: [
    Attributes,
    Equivalent,
    JsonObject,
    Mutation,
    Value,
  ]
): Mutated {
  return patchType === 'JSONPatch'
    ? applyPatch(attributes, matched, object, value)
    : applyConfiguration(attributes, matched, object, value)
}

function applyPatch(
  ...[attributes, matched, object, value]: [Attributes, Equivalent, JsonObject, Value]
): Mutated {
  const operations = toJson(value)
  const problems = Array.isArray(operations)
    ? namesIn(value)
    : ['JSONPatchType.expression should evaluate to array']
  if (problems.length > 0) return { ok: false, error: `type mismatch: ${problems.join('\n')}` }
  let patched: unknown
  try {
    patched = applyJsonPatch(object, decodeJsonPatch(operations))
  } catch (error) {
    if (!isMachineryError(error)) throw error
    // A failing test operation means that the patch does not apply to this object.
    if (error.message.endsWith('failed: test failed')) return { ok: true, object }
    return { ok: false, error: `JSON Patch: ${error.message}` }
  }
  return read(attributes, matched, patched)
}

/** Object literals in the values of operations have the type name of their field path. */
function namesIn(operations: Value): string[] {
  const items = (operations as { toArray?: () => Value[] }).toArray?.() ?? []
  return items.flatMap(operation => {
    const inner = (operation as { get?: (key: Value) => Value | undefined }).get?.('value')
    return inner === undefined ? [] : typeNameErrors(inner, nameOf(inner))
  })
}

/** An operation may set any part of an object, so a literal of any field path is accepted. */
function nameOf(value: Value): string {
  const { structType } = value as { structType?: { name: string } }
  return structType?.name ?? 'Object'
}

function applyConfiguration(
  ...[attributes, matched, object, value]: [Attributes, Equivalent, JsonObject, Value]
): Mutated {
  const problems = typeNameErrors(value)
  if (problems.length > 0) return { ok: false, error: `type mismatch: ${problems.join('\n')}` }
  const configuration = { ...(toJson(value) as JsonObject), apiVersion: object.apiVersion, kind: object.kind }
  const merged = mergeConfiguration(schemaOf(attributes, matched), object, configuration)
  if (!merged.ok) return { ok: false, error: `error applying patch: ${merged.error}` }
  return read(attributes, matched, merged.object)
}

/** Kinds of subresources are built in. */
function schemaOf({ kind }: Attributes, { endpoint }: Equivalent): Schema {
  if (!kind) return endpoint.version.schema()
  const group = kind.group.split('.', 1)[0] || 'core'
  return builtinSchema(`io.k8s.api.${group}.${kind.version}.${kind.kind}`) ?? endpoint.version.schema()
}

function read(attributes: Attributes, matched: Equivalent, value: unknown): Mutated {
  try {
    return { ok: true, object: readChanged(attributes, matched, value) }
  } catch (error) {
    return { ok: false, error: (error as Error).message }
  }
}
