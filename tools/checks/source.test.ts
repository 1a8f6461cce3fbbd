import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { blank, findImports } from './source.ts'

/** `§{` in a text stands for the beginning of a placeholder. */
const insertPlaceholders = (text: string) => text.replaceAll('§', '$')

describe('blanking comments and literals', () => {
  const cases: [text: string, code: string][] = [
    ["a('b') // c", "a(' ')     "],
    ['a /* b\nc */ d', 'a     \n     d'],
    ["'it\\'s' + x", "'     ' + x"],
    ['`a§{b + `c§{d}`}e`', '` §{b + ` §{d}`} `'],
    ['`§{ { a: 1 } }`', '`§{ { a: 1 } }`'],
    ['x = /[\'"]/ + y', 'x = /    / + y'],
    ['a / b / c', 'a / b / c'],
    ['return /x/g.test(s)', 'return / /g.test(s)'],
    ['/[/]x/.test(s)', '/    /.test(s)'],
    ['"// no comment" + x', '"             " + x'],
  ]
  for (const [text, code] of cases.map(pair => pair.map(insertPlaceholders))) {
    it(`turns ${JSON.stringify(text)} to ${JSON.stringify(code)}`, () => assert.equal(blank(text!), code))
  }

  it('keeps length and lines', () => {
    const text = insertPlaceholders("const a = `x\n§{b}\ny` // '\n/* ` */ const c = 'd'\n")
    assert.equal(blank(text).length, text.length)
    assert.equal(blank(text).split('\n').length, text.split('\n').length)
  })
})

describe('finding imports', () => {
  it('gives specifier, line and whether only types are meant', () => {
    const text =
      "import a from 'a'\n\nimport type {\n  B,\n} from \"b\"\nexport { c } from './c.ts'\n// import 'd'\n"
    assert.deepEqual(findImports({ path: 'x.ts', text, code: blank(text) }), [
      { specifier: 'a', line: 1, typeOnly: false },
      { specifier: 'b', line: 5, typeOnly: true },
      { specifier: './c.ts', line: 6, typeOnly: false },
    ])
  })
})
