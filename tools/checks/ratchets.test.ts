import assert from 'node:assert/strict'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { booleanParameters, findParameterLists, manyParameters } from './parameters.ts'
import { createRatchet } from './ratchet.ts'
import { repeatedLines } from './repeated-lines.ts'
import { blank } from './source.ts'
import { findingsWith } from './test-support/plant.ts'

describe('counts that only fall', () => {
  const occurrences = (keys: string) =>
    [...keys].map((key, index) => ({ key, file: 'a.ts', line: index + 1 }))
  const ratchet = (keys: string, groupOf?: (key: string) => string) =>
    createRatchet({
      name: 'x',
      rule: 'the rule',
      find: async () => occurrences(keys),
      ...(groupOf && { groupOf }),
    })
  /** Every key for itself. */
  const each = (key: string) => key
  const committed = (counts: Record<string, number>) => ({
    'tools/checks/ratchet/x.json': JSON.stringify(counts),
  })

  it('names what is new when the sum rises, and lets a renamed one pass', async () => {
    const files = committed({ a: 2 })
    assert.deepEqual(await findingsWith(ratchet('aab'), files), ['error a.ts:3 b: the rule'])
    assert.deepEqual(await findingsWith(ratchet('ab'), files), [])
    assert.deepEqual(await findingsWith(ratchet('b')), ['error a.ts:1 b: the rule'])
  })

  it('names every place of a key of its own that rises', async () => {
    assert.deepEqual(await findingsWith(ratchet('aa', each), committed({ a: 1, b: 1 })), [
      'error a.ts:1 a: the rule (2 of a, and tools/checks/ratchet/x.json has 1)',
      'error a.ts:2 a: the rule (2 of a, and tools/checks/ratchet/x.json has 1)',
      'error tools/checks/ratchet/x.json there are fewer now: npm run check -- --lower (b 0 of 1)',
    ])
  })

  it('asks for the lower count, and writes it, but never a higher one', async () => {
    const root = await mkdtemp(join(tmpdir(), 'coxswain-ratchet-'))
    const path = join(root, 'tools/checks/ratchet/x.json')
    const read = async () => JSON.parse(await readFile(path, 'utf8')) as unknown
    try {
      await mkdir(join(path, '..'), { recursive: true })
      await writeFile(path, JSON.stringify({ a: 2, b: 1 }))
      assert.match((await ratchet('a').run(root))[0]?.message ?? '', /fewer now: .*--lower \(1 of 3\)/)
      assert.equal(await ratchet('aaaa').lower(root), 3)
      assert.deepEqual(await read(), { a: 2, b: 1 })
      assert.equal(await ratchet('aaab', each).lower(root), 3)
      assert.deepEqual(await read(), { a: 2, b: 1 })
      assert.equal(await ratchet('ac').lower(root), 2)
      assert.deepEqual(await read(), { a: 1, c: 1 })
      assert.equal(await ratchet('cd', each).lower(root), 1)
      assert.deepEqual(await read(), { c: 1 })
    } finally {
      await rm(root, { recursive: true })
    }
  })
})

describe('parameters', () => {
  const many = [
    'function f(a: A, b: B, c: C, d: D): void {}',
    'const f = async (a: A, b: B, c: C, d: D): Promise<void> => {}',
    'class F { constructor(a: A, b: Map<string, B>, c: C, d = 1) {} }',
    'class F { #f<T>(a: T, b: T, c: T, d: T): void {} }',
    'interface F { f(a: A, b: B, c: C, d?: D): void }',
    'type F = (a: A, b: (x: X, y: Y) => B, c: C, ...d: D[]) => void',
    'list.reduce((a, b, c, d) => a)',
    'function f(\n  { a }: A,\n  [b]: B,\n  c: C,\n  d: D,\n): void {}',
  ]
  for (const code of many) {
    it(`counts four in ${code.replace(/\s+/g, ' ')}`, async () => {
      const found = await findingsWith(manyParameters, { 'packages/wire/src/bad.ts': code })
      assert.equal(found.length, 1, found.join('\n'))
      assert.match(found[0]!, /at most 3 parameters/)
    })
  }

  const few = [
    'f(a, b, c, d)',
    'f({ a: A, b: B, c: C, d: D })',
    'function f(a: A, b: B, { c, d, e }: C): void {}',
    'function f(a: Map<A, B>, b: [C, D], c: (d: D, e: E) => F): void {}',
    'const x = a ? f(a, b, c, d) : e',
    '// function f(a: A, b: B, c: C, d: D)',
  ]
  for (const code of few) {
    it(`lets ${code} pass`, async () =>
      assert.deepEqual(await findingsWith(manyParameters, { 'packages/wire/src/good.ts': code }), []))
  }

  it('counts booleans as parameters, not as options, results or callbacks', async () => {
    const bad = [
      'function f(a: A, isB: boolean): void {}',
      'const f = (a = true) => a',
      'interface F { f(a?: boolean): A; g(a: boolean | undefined): A; h(a: boolean = false): A }',
    ]
    const good = [
      'function f(a: A, { isB }: { isB: boolean }): boolean {}',
      'function f(isA: (a: A) => boolean): void {}',
    ]
    const found = await findingsWith(booleanParameters, {
      'packages/wire/src/bad.ts': bad.join('\n'),
      'packages/wire/src/good.ts': good.join('\n'),
      'packages/wire/src/good.test.ts': bad.join('\n'),
    })
    assert.deepEqual(
      found.map(text => text.split(':').slice(0, 2).join(':')),
      [1, 2, 3, 3, 3].map((line, at) => `error packages/wire/src/bad.ts:${line} ${'fffgh'[at]}`),
    )
  })

  it('knows the name of each function', () => {
    const code =
      'function f<T>(a: T) {}\nconst g = async (a: A) => a\nclass H { #i(a: A): void {} }\nx(a => a)'
    assert.deepEqual(
      findParameterLists({ code: blank(code) }).map(({ name }) => name),
      ['f', 'g', '#i'],
    )
  })
})

describe('repeated-lines', () => {
  const copy = (name: string) => `import { ${name} } from './x.ts'
export function ${name}Of(${name}: string): string {
  const parts = ${name}.split('${name}')
  for (const part of parts) {
    // ${name}
    if (part.startsWith('${name}')) return part.trim()
  }

  const rest = parts.join('')
  return rest.padStart(4)
}
`

  it('catches six lines that differ in names of variables, literals and comments only', async () => {
    const found = await findingsWith(repeatedLines, {
      'packages/kit/src/a.ts': copy('a'),
      'packages/wire/src/b.ts': `\n${copy('bb')}`,
    })
    assert.equal(found.length, 1, found.join('\n'))
    assert.match(
      found[0]!,
      /^error packages\/wire\/src\/b\.ts:3 \w{8}: the next 6 lines stand at packages\/kit\/src\/a\.ts:2 too/,
    )
  })

  it('lets other calls, fewer lines, tests and bare data pass', async () => {
    const found = await findingsWith(repeatedLines, {
      'packages/kit/src/a.ts': copy('a'),
      'packages/wire/src/b.ts': copy('b').replace('join', 'reverse'),
      'packages/wire/src/c.ts': copy('c').split('\n').slice(0, 7).join('\n'),
      'packages/wire/src/d.test.ts': copy('d'),
      'packages/wire/src/e.ts': "export const a = {\nb: 1,\nc: 2,\nd: 3,\ne: '4',\nf: 5,\ng: 6,\n}\n".repeat(
        2,
      ),
    })
    assert.deepEqual(found, [])
  })
})
