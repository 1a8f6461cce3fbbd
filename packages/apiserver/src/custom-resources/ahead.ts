import type { JsonObject } from '@coxswain/apimachinery/json'
import { checkPattern } from '@coxswain/apimachinery/schema'
import type { Clock } from '@coxswain/kit'
import {
  compileRule,
  eachSchema,
  type RuleNode,
  readCrd,
  rulesOf,
  versionsOf,
} from '@coxswain/strategies/apiextensions'
import { Slices, Turns } from '../cache/slices.ts'

/**
 * Compiles the patterns and rules of a CRD ahead of its validation, which reuses the results. A large CRD
 * takes seconds: this yields to other requests in between.
 */
export async function compileAhead(crd: JsonObject, clock: Clock): Promise<void> {
  const slices = new Slices(new Turns(clock))
  for (const _ of steps(crd)) if (slices.isUsedUp) await slices.next()
}

function* steps(crd: JsonObject): Generator<undefined, void, undefined> {
  for (const { schema } of versionsOf(readCrd(crd).spec)) {
    if (!schema?.openAPIV3Schema) continue
    for (const { pattern } of eachSchema(schema.openAPIV3Schema)) {
      if (!pattern) continue
      checkPattern(pattern)
      yield
    }
    const root = rulesOf(schema.openAPIV3Schema)
    if (root) yield* ruleSteps(root)
  }
}

function* ruleSteps(node: RuleNode): Generator<undefined, void, undefined> {
  const { schema, type, items, values, properties } = node
  for (const rule of schema['x-kubernetes-validations'] ?? []) {
    if (type) compileRule(rule, schema, type)
    yield
  }
  for (const child of [items, values, ...(properties?.values() ?? [])]) if (child) yield* ruleSteps(child)
}
