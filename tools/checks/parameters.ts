/** Functions take at most three parameters, and no bare boolean: at the call, `true` says nothing. What there is already only becomes less. */
import { createRatchet, type Occurrence, type Ratchet } from './ratchet.ts'
import { isTest, lineAt, readSources, type SourceFile } from './source.ts'

const most = 3

export const manyParameters: Ratchet = createRatchet({
  name: 'many-parameters',
  rule: `at most ${most} parameters, then one object of options`,
  find: root => findFunctions(root, ({ parameters }) => parameters.length > most),
})

export const booleanParameters: Ratchet = createRatchet({
  name: 'boolean-parameters',
  rule: 'no bare boolean as a parameter: an option has a name, and two functions say what they do',
  find: root => findFunctions(root, ({ parameters }) => parameters.some(text => isBoolean.test(text))),
})

interface ParameterList {
  readonly index: number
  readonly name: string
  readonly parameters: readonly string[]
}

const isBoolean = /^[\w$]+\s*(?:\?\s*)?(?::\s*boolean(?:\s*\|\s*undefined)?\s*(?:=.*)?|=\s*(?:true|false))$/s

async function findFunctions(
  root: string,
  isFound: (list: ParameterList) => boolean,
): Promise<readonly Occurrence[]> {
  const sources = await readSources(root, ['{packages,tools,bench,examples,interop}/**/*.ts'])
  return sources
    .filter(({ path }) => !isTest(path))
    .flatMap(source =>
      findParameterLists(source)
        .filter(isFound)
        .map(({ index, name }) => ({ key: name, file: source.path, line: lineAt(source.text, index) })),
    )
}

/** Every list of parameters: of functions, methods, arrow functions and their types. A list of arguments has no types. */
export function findParameterLists({ code }: Pick<SourceFile, 'code'>): readonly ParameterList[] {
  const lists: ParameterList[] = []
  for (let open = code.indexOf('('); open >= 0; open = code.indexOf('(', open + 1)) {
    const parameters = splitList(code, open)
    if (!parameters) continue
    const isTyped = parameters.items.some(item => /^(?:\.\.\.)?(?:[\w$]+|[{[].*[}\]])\s*\??\s*:/s.test(item))
    const isArrow = /^\s*=>/.test(code.slice(parameters.end, parameters.end + 80))
    if (!isTyped && !isArrow) continue
    const before = code.slice(Math.max(0, open - 160), open)
    const name =
      /([\w$#]+)\s*(?:<[^()]*>)?\s*(?:[:=]\s*(?:async\s*)?(?:<[^()]*>)?\s*)?$/.exec(before)?.[1] ??
      'a function'
    lists.push({ index: open, name, parameters: parameters.items })
  }
  return lists
}

const closing: Readonly<Record<string, string>> = { '(': ')', '[': ']', '{': '}', '<': '>' }

/** What stands between the parenthesis at `open` and its end, split at the outer commas; undefined when it does not end. */
function splitList(
  code: string,
  open: number,
): { readonly items: readonly string[]; readonly end: number } | undefined {
  const items: string[] = []
  const expected: string[] = []
  let start = open + 1
  for (let at = open; at < code.length; at++) {
    const char = code[at]!
    const isArrow = char === '>' && code[at - 1] === '='
    // A comparison opens nothing that is closed: it is dropped when a bracket around it closes.
    if (char in closing && !(char === '<' && /[\s=]/.test(code[at + 1] ?? ''))) expected.push(closing[char]!)
    else if (char === ')' || char === ']' || char === '}') {
      while (expected.at(-1) === '>') expected.pop()
      if (expected.pop() !== char) return undefined
    } else if (char === '>' && !isArrow && expected.at(-1) === '>') expected.pop()
    const isEnd = expected.length === 0
    if (isEnd || (char === ',' && expected.length === 1)) {
      const item = code.slice(start, at).trim()
      if (item) items.push(item)
      start = at + 1
    }
    if (isEnd) return { items, end: at + 1 }
  }
  return undefined
}
