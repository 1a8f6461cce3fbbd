import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { gunzipSync } from 'node:zlib'
import type { Schema } from '@coxswain/apimachinery/schema'
import { compileExpression, schemaVariable, type VariableDeclaration } from './compile-expression.ts'
import { show } from './test-support/show.ts'
import { formatType } from './types.ts'

interface Answer {
  readonly expr: string
  readonly issues?: string
  readonly type?: string
  readonly value?: string
  readonly error?: string
  readonly cost: number
  readonly minCost?: string
  readonly maxCost?: string
}

interface Recorded {
  readonly schema: Schema
  readonly self: object
  readonly oldSelf: object
  readonly cases: readonly Answer[]
}

/** Integers beyond 2^53 stay exact. */
function reviveBig(_key: string, value: unknown, context?: { source?: string }): unknown {
  return typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value)
    ? BigInt(context?.source ?? 0)
    : value
}

const file = new URL('../fixtures/kubernetes.json.gz', import.meta.url)
const recorded = JSON.parse(gunzipSync(readFileSync(file)).toString('utf8'), reviveBig as never) as Recorded
const declared = schemaVariable(recorded.schema) as VariableDeclaration

function answer(expr: string): Answer {
  const compilation = compileExpression(expr, { variables: { self: declared, oldSelf: declared } })
  if (!compilation.ok)
    return {
      expr,
      issues: `${compilation.stage === 'program' ? 'program: ' : ''}${compilation.message}`,
      cost: 0,
    }
  const { self, oldSelf } = recorded
  const result = compilation.program.evaluate({ self, oldSelf }, { costLimit: 10_000_000 })
  const { min, max } = compilation.cost
  return {
    expr,
    type: formatType(compilation.type),
    ...(result.ok ? { value: show(result.value) } : { error: result.error }),
    cost: result.cost,
    minCost: String(BigInt(Math.min(min, 2 ** 63))),
    maxCost: String(BigInt(Math.min(max, 2 ** 63))),
  }
}

/** Costs are numbers here: beyond 2^53 only the leading digits are compared. */
function bounded(cost: string | undefined): string {
  const value = Math.min(Number(cost ?? 0), 2 ** 63)
  return Number.isSafeInteger(value) ? String(value) : value.toPrecision(12)
}

function differences(aspect: (a: Answer) => unknown): string[] {
  const found: string[] = []
  for (const recordedCase of recorded.cases) {
    const { expr, issues: problem } = recordedCase
    // Upstream has a type and an estimate even where the program cannot be compiled; they are not used.
    const expected: Answer = problem?.startsWith('program: ')
      ? { expr, issues: problem, cost: 0 }
      : recordedCase
    const actual = answer(expected.expr)
    const [want, have] = [aspect(expected), aspect(actual)]
    if (want !== have) found.push(`${expected.expr}\n    expected ${want}\n    actual   ${have}`)
  }
  return found
}

/** The name of the root type is arbitrary. */
const plain = (text: string): string => text.replace(/selfType\d*/g, 'selfType')
const typeName = (a: Answer): string | undefined => a.type && plain(a.type)

/** The whole text, source line and caret included; of several syntax errors the first, for ANTLR goes on where we stop. */
function issues(a: Answer): string | undefined {
  if (a.issues === undefined) return undefined
  const [first = ''] = a.issues.split('\n')
  return plain(first.includes('Syntax error') ? first : a.issues)
}

describe('agreement with the Go environment of Kubernetes 1.36', () => {
  const report = (name: string, aspect: (a: Answer) => unknown): void => {
    it(name, () => {
      const found = differences(aspect)
      assert.equal(found.length, 0, `${found.length} of ${recorded.cases.length}\n${found.join('\n')}`)
    })
  }
  it('has at least 300 recorded cases', () => assert.ok(recorded.cases.length >= 300))
  report('finds the same problems at the same places', issues)
  report('deduces the same types', typeName)
  report('computes the same values', a => a.value)
  report('fails with the same messages', a => a.error)
  report('costs the same at run time', a => a.cost)
  report('estimates the same costs', a => `${bounded(a.minCost)}..${bounded(a.maxCost)}`)
})
