import { ProjectError } from '../errors.ts'

/** Text that is inserted into a file that the author may have edited. */
export interface Insertion {
  readonly path: string
  /** `imports`: the text goes before the line `// +coxswain:scaffold:imports`. */
  readonly marker: string
  readonly lines: readonly string[]
}

export const markerOf = (name: string): string => `// +coxswain:scaffold:${name}`

/** The text with the lines before the marker, indented as it. Lines that are there already are not repeated. Throws `NoMarker`. */
export function insertAtMarker(text: string, { path, marker, lines }: Insertion): string {
  const all = text.split('\n')
  const index = all.findIndex(line => line.trim() === markerOf(marker))
  if (index < 0)
    throw new ProjectError(
      'NoMarker',
      `${path} has no line "${markerOf(marker)}": put it back where these lines belong, and run the command again:\n${lines.map(line => `  ${line}`).join('\n')}`,
    )
  const indent = /^\s*/.exec(all[index]!)![0]
  const isThere = all.some((_, start) => lines.every((line, n) => all[start + n]?.trim() === line.trim()))
  if (isThere) return text
  const inserted = lines.map(line => (line === '' ? '' : `${indent}${line}`))
  return [...all.slice(0, index), ...inserted, ...all.slice(index)].join('\n')
}
