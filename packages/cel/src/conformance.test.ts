import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { compileExpression } from './compile-expression.ts'
import { equals, typeOfValue } from './equality.ts'
import {
  bindingsOf,
  type ConformanceCase,
  declarations,
  isApplicable,
  loadCases,
  toType,
  toValue,
} from './test-support/conformance.ts'
import { formatType } from './types.ts'
import { CelDouble, type Value } from './values.ts'

/** Undefined where the case passes, else what differs. */
function run(test: ConformanceCase): string | undefined {
  const { environment, variables } = declarations(test)
  const compilation = compileExpression(test.expr, {
    environment,
    variables,
    check: test.disableCheck !== true,
  })
  if (!compilation.ok) return test.evalError === undefined ? compilation.message : undefined
  const expectedType = (test.typedResult as { deducedType?: never } | undefined)?.deducedType
  if (expectedType !== undefined && test.disableCheck !== true) {
    const [wanted, found] = [formatType(toType(expectedType)), formatType(compilation.type)]
    if (wanted !== found) return `type ${found}, expected ${wanted}`
  }
  if (test.checkOnly === true) return undefined
  const result = compilation.program.evaluate(bindingsOf(test), { costLimit: Number.POSITIVE_INFINITY })
  if (!result.ok) return test.evalError === undefined ? result.error : undefined
  if (test.evalError !== undefined) return `no error but ${show(result.value)}`
  const json = test.value ??
    (test.typedResult as { result?: never } | undefined)?.result ?? { boolValue: true }
  const expected = toValue(json)
  return same(expected, result.value) ? undefined : `${show(result.value)}, expected ${show(expected)}`
}

function same(a: Value, b: Value): boolean {
  if (a instanceof CelDouble && b instanceof CelDouble)
    return Object.is(a.value, b.value) || a.value === b.value
  return equals(a, b) && typeOfValue(a).kind === typeOfValue(b).kind
}

function show(value: Value): string {
  return JSON.stringify(value, (_, v) => (typeof v === 'bigint' ? `${v}n` : v)) ?? String(value)
}

describe('conformance with cel-spec', () => {
  const cases = loadCases().filter(isApplicable)
  const failures: string[] = []
  for (const test of cases) {
    let problem: string | undefined
    try {
      problem = run(test)
    } catch (error) {
      problem = `threw ${(error as Error).stack ?? String(error)}`
    }
    if (problem !== undefined)
      failures.push(`${test.suite}/${test.section}/${test.name}: ${test.expr}\n    ${problem}`)
  }

  it('holds for at least 99 % of the cases without protocol buffers', t => {
    t.diagnostic(`${cases.length - failures.length} of ${cases.length} cases`)
    for (const failure of failures) t.diagnostic(failure)
    assert.ok(cases.length > 1300, `${cases.length} cases`)
    assert.ok(failures.length <= cases.length * 0.01, failures.join('\n'))
  })
})
