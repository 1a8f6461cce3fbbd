/** The comments of a YAML document by the path of the key they belong to: `spec.versions[0].name`. */
export interface Comments {
  /** Before the first key. */
  readonly head: readonly string[]
  readonly at: ReadonlyMap<string, { readonly before: readonly string[]; readonly after: string }>
  /** After the last key. */
  readonly tail: readonly string[]
}

interface Line {
  /** The path of the innermost key on the line; undefined for blank lines, comments and continued values. */
  readonly path: string | undefined
  readonly text: string
  /** Part of a block scalar, where nothing is a comment. */
  readonly isText?: boolean
}

/** Finds the keys of a document in block style, line by line. */
function* scan(document: string): Generator<Line, void, undefined> {
  const levels: { indent: number; path: string; items: number }[] = []
  let blockIndent: number | undefined
  for (const text of document.split('\n')) {
    const indent = text.length - text.trimStart().length
    if (blockIndent !== undefined && (text.trim() === '' || indent > blockIndent)) {
      yield { path: undefined, text, isText: true }
      continue
    }
    blockIndent = undefined
    const found = /^(\s*)((?:- +)*)(?:("[^"]*"|'[^']*'|[^\s#'"&*!|>{[\]},?][^:#]*?)\s*:(?=\s|$)(.*))?/.exec(
      text,
    )
    const [, space = '', dashes = '', key, value = ''] = found ?? []
    const isComment = text.trim() === '' || text.trimStart().startsWith('#')
    if (isComment || (key === undefined && dashes === '')) {
      yield { path: undefined, text }
      continue
    }
    let column = space.length
    for (const _ of dashes.matchAll(/- +/g)) {
      while (levels.length > 0 && levels.at(-1)!.indent > column) levels.pop()
      let level = levels.at(-1)
      if (!level || level.indent !== column || level.items < 0) {
        level = { indent: column, path: parentOf(levels, column), items: 0 }
        levels.push(level)
      }
      const index = level.items++
      column += 2
      while (levels.length > 0 && levels.at(-1)!.indent > level.indent) levels.pop()
      levels.push({ indent: column - 1, path: `${level.path}[${index}]`, items: -1 })
    }
    if (key === undefined) {
      yield { path: levels.at(-1)?.path, text }
      continue
    }
    while (levels.length > 0 && levels.at(-1)!.indent >= column) levels.pop()
    const parent = levels.at(-1)?.path ?? ''
    const name = key.replace(/^(["'])(.*)\1$/, '$2')
    const path = parent === '' ? name : `${parent}.${name}`
    levels.push({ indent: column, path, items: -1 })
    if (/^\s*[|>][+-]?\d?\s*(?:#.*)?$/.test(value)) blockIndent = column
    yield { path, text }
  }
}

function parentOf(
  levels: readonly { readonly indent: number; readonly path: string }[],
  column: number,
): string {
  return levels.findLast(level => level.indent <= column)?.path ?? ''
}

/** A comment at the end of a line; lines with quotes around the # are ambiguous and have none. */
function trailing(text: string): string {
  const found = /\s(#[^'"]*)$/.exec(text)
  return found?.[1] ?? ''
}

export function collectComments(document: string): Comments {
  const at = new Map<string, { before: readonly string[]; after: string }>()
  let head: readonly string[] | undefined
  let before: string[] = []
  for (const { path, text, isText } of scan(document)) {
    if (path === undefined) {
      if (!isText && text.trimStart().startsWith('#')) before.push(text.trim())
      continue
    }
    const after = trailing(text)
    if (head === undefined) {
      head = before
      before = []
    }
    if ((before.length > 0 || after !== '') && !at.has(path)) at.set(path, { before, after })
    before = []
  }
  return { head: head ?? [], at, tail: before }
}

/**
 * Puts comments back into a document that was rewritten. `move` maps an old path to the new one. Those whose key was
 * removed go to the top.
 */
export function putComments(document: string, comments: Comments, move: (path: string) => string): string {
  const wanted = new Map([...comments.at].map(([path, comment]) => [move(path), comment]))
  const lines: string[] = []
  for (const { path, text } of scan(document)) {
    const comment = path === undefined ? undefined : wanted.get(path)
    if (!comment) {
      lines.push(text)
      continue
    }
    wanted.delete(path!)
    const indent = ' '.repeat(text.length - text.trimStart().length)
    for (const item of comment.before.map(line => indent + line)) lines.push(item)
    lines.push(comment.after === '' ? text : `${text} ${comment.after}`)
  }
  const lost = [...wanted.values()].flatMap(({ before, after }) =>
    after === '' ? before : [...before, after],
  )
  const head = [...comments.head, ...lost]
  const tail = comments.tail.length > 0 ? `${comments.tail.join('\n')}\n` : ''
  return `${head.map(line => `${line}\n`).join('')}${lines.join('\n')}${tail}`
}
