import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as field from '@coxswain/apimachinery/field'
import { checkPattern, type Schema } from '@coxswain/apimachinery/schema'
import { compileExpression, costLimits, schemaVariable } from '@coxswain/cel'
import type { Clock } from '@coxswain/kit'
import { checkRules, runRules } from '@coxswain/strategies/apiextensions'
import { compileAhead } from './ahead.ts'
import { crds, startCrdServer, thingCrd } from './test-support/crd-server.ts'

const rules = 'x-kubernetes-validations'

function properties(count: number, property: (index: number) => object): Record<string, object> {
  return Object.fromEntries(Array.from({ length: count }, (_, i) => [`p${i}`, property(i)]))
}

function nested(levels: number, wrap: (inner: object) => object): object {
  let schema: object = { type: 'string' }
  for (let i = 0; i < levels; i++) schema = wrap(schema)
  return schema
}

const rooted = (spec: object): Schema => ({ type: 'object', properties: { spec } }) as Schema

/** Advances a millisecond with every read. Counts how often work yielded. */
function tickingClock(): { readonly clock: Clock; readonly sleeps: () => number } {
  let now = 0
  let sleeps = 0
  const clock = {
    monotonic: () => now++,
    sleep: async () => void sleeps++,
  } as unknown as Clock
  return { clock, sleeps: () => sleeps }
}

describe('hostile CRDs', () => {
  it('of a megabyte and 10,000 properties are accepted and served', async () => {
    await using server = await startCrdServer()
    const many = properties(10_000, () => ({ type: 'string', description: 'x'.repeat(70) }))
    const crd = JSON.stringify(thingCrd(rooted({ type: 'object', properties: many })))
    assert.ok(crd.length > 1_000_000)
    assert.equal((await server.send('POST', crds, crd)).status, 201)
    const thing = {
      apiVersion: 'example.com/v1',
      kind: 'Thing',
      metadata: { name: 'x' },
      spec: { p9999: 'y', q: 1 },
    }
    const { status, body } = await server.send('POST', '/apis/example.com/v1/things', thing)
    assert.deepEqual([status, body.spec], [201, { p9999: 'y' }])
  })

  it('over three megabytes are rejected', async () => {
    await using server = await startCrdServer()
    const many = properties(40_000, () => ({ type: 'string', description: 'x'.repeat(70) }))
    const crd = thingCrd(rooted({ type: 'object', properties: many }))
    assert.equal((await server.send('POST', crds, crd)).status, 413)
  })

  const wraps: readonly (readonly [string, (inner: object) => object])[] = [
    ['objects', inner => ({ type: 'object', properties: { n: inner } })],
    ['lists', inner => ({ type: 'array', items: inner })],
    ['alternatives', inner => ({ allOf: [inner] })],
    ['maps', inner => ({ type: 'object', additionalProperties: inner })],
  ]
  for (const [name, wrap] of wraps) {
    it(`are rejected when ${name} are nested too deeply, and the server continues`, async () => {
      await using server = await startCrdServer()
      const kept = await server.send('POST', crds, thingCrd(rooted(nested(100, wraps[0]![1]))))
      assert.equal(kept.status, 201)
      for (const levels of [600, 1200, 4000]) {
        const text = JSON.stringify(thingCrd(rooted({}))).replace(
          '"spec":{}',
          () => `"spec":${deepText(levels, wrap)}`,
        )
        const { status, body } = await server.send('POST', crds, text)
        assert.ok(status === 422 || status === 400, `${levels}: ${status}`)
        assert.match(body.message, /nested/)
      }
    })
  }

  it('have patterns that take linear time, and none that RE2 does not support', () => {
    const schema = rooted({ type: 'string', pattern: '^(a+)+$' })
    const text = `${'a'.repeat(100_000)}!`
    assert.equal(checkPattern('^(a+)+$'), undefined)
    assert.match(checkPattern('a'.repeat(70_000)) ?? '', /^error parsing regexp: expression too large: `a/)
    assert.equal(runRules(schema, { spec: text }, undefined).errors.length, 0)
    assert.match(checkPattern('(?=x)') ?? '', /./)
    assert.match(checkPattern('(a)\\1') ?? '', /./)
    assert.match(checkPattern('((a{1,100}){1,100}){1,100}') ?? '', /./)
    // The same pattern without a bound: 2^n steps, which 24 characters show.
    const started = process.hrtime.bigint()
    ;/^(a+)+$/.test(`${'a'.repeat(24)}!`)
    assert.ok(process.hrtime.bigint() - started > 1_000_000n, 'the pattern is not catastrophic after all')
  })

  it('have rules that are rejected before they can be run', () => {
    const list = { type: 'array', items: { type: 'string' } }
    const cube = 'self.all(x, self.all(y, self.all(z, x + y != z)))'
    const errors = checkRules(rooted({ ...list, [rules]: [{ rule: cube }] }), field.Path.root, {
      unchanged: false,
      problems: [],
    })
    assert.ok(errors.some(({ body }) => body.includes('more than 100x')))
    const cases = [
      ['too long', `self == "${'x'.repeat(100_001)}"`, /size exceeds limit/],
      ['too deep', `${'('.repeat(400)}true${')'.repeat(400)}`, /recursion limit|nest/i],
      ['too many operators in a row', `self.x${'[0]'.repeat(300)}`, /./],
    ] as const
    for (const [name, source, message] of cases) {
      const compiled = compileExpression(source)
      assert.ok(!compiled.ok, name)
      assert.match(compiled.message.slice(0, 500), message)
    }
  })

  it('have rules that are stopped by their budget, and would otherwise run long', () => {
    const items: Schema = { type: 'array', items: { type: 'integer' } }
    const rule = 'self.all(x, self.all(y, self.all(z, x + y + z >= 0)))'
    const values = Array.from({ length: 120 }, (_, i) => i)
    const { errors } = runRules(rooted({ ...items, [rules]: [{ rule }] }), { spec: values }, undefined)
    assert.match(errors[0]?.body ?? '', /call cost exceeds limit/)
    const self = schemaVariable(items)
    const compiled = compileExpression(rule, { variables: self ? { self } : {} })
    assert.ok(compiled.ok)
    const unbounded = compiled.program.evaluate({ self: values }, { costLimit: Number.POSITIVE_INFINITY })
    assert.ok(unbounded.ok && unbounded.cost > 5 * costLimits.perCall, 'the rule is not expensive after all')
  })

  it('are compiled in slices; small ones at once', async () => {
    const many = properties(500, i => ({
      type: 'string',
      maxLength: 9,
      pattern: `^a${i}$`,
      [rules]: [{ rule: `self != '${i}'` }],
    }))
    const large = tickingClock()
    await compileAhead(thingCrd(rooted({ type: 'object', properties: many })), large.clock)
    assert.ok(large.sleeps() > 20, `${large.sleeps()} interruptions`)
    const small = tickingClock()
    await compileAhead(thingCrd(rooted({ type: 'string', pattern: '^x$' })), small.clock)
    assert.equal(small.sleeps(), 0)
  })

  it('cannot reach the prototypes of objects', async () => {
    await using server = await startCrdServer()
    const text = JSON.stringify(thingCrd(rooted({ type: 'object', properties: {} })))
    const evil = text.replace(
      '"properties":{}',
      '"properties":{"__proto__":{"type":"string","default":"x"},"constructor":{"type":"string"}}',
    )
    assert.equal((await server.send('POST', crds, evil)).status, 201)
    const thing =
      '{"apiVersion":"example.com/v1","kind":"Thing","metadata":{"name":"x"},"spec":{"constructor":"a"}}'
    const made = await server.send('POST', '/apis/example.com/v1/things', thing)
    assert.equal(made.status, 201)
    assert.equal(({} as Record<string, unknown>).type, undefined)
  })
})

/** The text of a nested schema: deeper than JSON.stringify can go. */
function deepText(levels: number, wrap: (inner: object) => object): string {
  const [before = '', after = ''] = JSON.stringify(wrap({ hole: 1 })).split('{"hole":1}')
  return `${before.repeat(levels)}{"type":"string"}${after.repeat(levels)}`
}
