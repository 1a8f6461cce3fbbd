/** A compilation problem. `line` and `column` count from one, columns in code points; -1 and 0 for the whole source. */
export interface Issue {
  readonly line: number
  readonly column: number
  readonly message: string
}

export function issueAt(source: string, offset: number, message: string): Issue {
  if (offset < 0) return { line: -1, column: 0, message }
  // cel-go finds no position in a source without characters.
  if (source === '') return { line: 1, column: 0, message }
  const before = source.slice(0, offset)
  const start = before.lastIndexOf('\n') + 1
  return { line: before.split('\n').length, column: [...before.slice(start)].length + 1, message }
}

/** As many as cel-go tells. */
export const mostIssues = 100
const maxSnippet = 16384

/** cel-go's display: a line per problem, the source line and a caret below the column, and how many more of `count` there are. */
export function formatIssues(
  source: string,
  issues: readonly Issue[],
  count: number = issues.length,
): string {
  const lines = source.split('\n')
  const more = count > issues.length ? [`${count - issues.length} more errors were truncated`] : []
  return issues
    .map(({ line, column, message }) => {
      const head = `ERROR: <input>:${line}:${column}: ${message}`
      const snippet = lines[line - 1]?.replaceAll('\t', ' ')
      if (snippet === undefined || column === 0 || snippet.length > maxSnippet) return head
      // biome-ignore lint/suspicious/noControlCharactersInRegex: all of ASCII
      if (/^[\x00-\x7f]*$/.test(snippet)) return `${head}\n | ${snippet}\n | ${'.'.repeat(column - 1)}^`
      const points = [...snippet]
      let pointer = ''
      for (let i = 0; i < Math.min(column - 1, points.length); i++) pointer += isWide(points[i]) ? '．' : '.'
      pointer += isWide(points[column - 1]) ? '＾' : '^'
      return `${head}\n | ${snippet}\n | ${pointer}`
    })
    .concat(more)
    .join('\n')
}

function isWide(character: string | undefined): boolean {
  return character !== undefined && (character.codePointAt(0) ?? 0) > 0x7f
}
