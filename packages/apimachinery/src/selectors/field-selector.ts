import { MachineryError } from '../errors.ts'
import { compareCodePoints } from '../go/print-value.ts'

/** One condition of a field selector. */
export interface FieldRequirement {
  readonly field: string
  readonly operator: '=' | '!='
  readonly value: string
}

/** Renames a term or changes its value, or rejects it by throwing; both empty drops the term. */
export type FieldTransform = (field: string, value: string) => readonly [field: string, value: string]

/** The values of the selectable fields of an object. An absent field counts as empty. */
export type Fields = Readonly<Record<string, string>>

/** A field selector: all requirements must hold. Immutable. */
export class FieldSelector {
  readonly requirements: readonly FieldRequirement[]

  constructor(requirements: readonly FieldRequirement[]) {
    this.requirements = requirements
  }

  static readonly everything: FieldSelector = new FieldSelector([])

  get isEmpty(): boolean {
    return this.requirements.length === 0
  }

  matches(fields: Fields): boolean {
    return this.matchesBy(field => (Object.hasOwn(fields, field) ? fields[field] : undefined))
  }

  /** The same, reading only the fields it needs. */
  matchesBy(read: (field: string) => string | undefined): boolean {
    for (const { field, operator, value } of this.requirements) {
      if (((read(field) ?? '') === value) !== (operator === '=')) return false
    }
    return true
  }

  /** The value that `field` must have, if one is required: lets a list of one name become a get. */
  requiresExactMatch(field: string): string | undefined {
    return this.requirements.find(term => term.operator === '=' && term.field === field)?.value
  }

  /** The same selector in terms of other fields, as when versions name them differently. */
  transform(transform: FieldTransform): FieldSelector {
    const next: FieldRequirement[] = []
    for (const { field, operator, value } of this.requirements) {
      const [newField, newValue] = transform(field, value)
      if (newField !== '' || newValue !== '') next.push({ field: newField, operator, value: newValue })
    }
    return new FieldSelector(next)
  }

  /** The canonical text. */
  toString(): string {
    return this.requirements
      .map(({ field, operator, value }) => `${field}${operator}${escapeFieldValue(value)}`)
      .join(',')
  }
}

/**
 * Parses `metadata.name=web,status.phase!=Running`; `\`, `,` and `=` in a value are escaped by `\`. Terms are sorted, so
 * that equal selectors have one text; a term without field and value is dropped.
 * @throws MachineryError `BadSelector` with upstream's message
 */
export function parseFieldSelector(text: string): FieldSelector {
  const requirements: FieldRequirement[] = []
  for (const term of splitTerms(text).sort(compareCodePoints)) {
    if (term === '') continue
    const match = /!=|==?/.exec(term)
    if (!match) {
      throw new MachineryError('BadSelector', `invalid selector: '${text}'; can't understand '${term}'`)
    }
    const field = term.slice(0, match.index)
    const value = unescapeFieldValue(term.slice(match.index + match[0].length))
    if (field !== '' || value !== '') {
      requirements.push({ field, operator: match[0] === '!=' ? '!=' : '=', value })
    }
  }
  return new FieldSelector(requirements)
}

// At commas that no backslash precedes.
function splitTerms(text: string): string[] {
  const terms: string[] = []
  let start = 0
  for (let i = 0; i < text.length; i++) {
    if (text[i] === '\\') i++
    else if (text[i] === ',') {
      terms.push(text.slice(start, i))
      start = i + 1
    }
  }
  terms.push(text.slice(start))
  return terms
}

/** Escapes a text for use as a value in a field selector. */
export function escapeFieldValue(value: string): string {
  return value.replace(/[\\,=]/g, '\\$&')
}

/**
 * The inverse of {@link escapeFieldValue}.
 * @throws MachineryError `BadSelector`
 */
export function unescapeFieldValue(escaped: string): string {
  let value = ''
  for (let i = 0; i < escaped.length; i++) {
    const char = escaped[i]!
    if (char === '\\') {
      const next = escaped.codePointAt(++i)
      const sequence = next === undefined ? '' : String.fromCodePoint(next)
      if (sequence === '' || !'\\,='.includes(sequence)) {
        throw new MachineryError(
          'BadSelector',
          `invalid field selector: invalid escape sequence: \\${sequence}`,
        )
      }
      value += sequence
    } else if (char === ',' || char === '=') {
      const message = `invalid field selector: unescaped character in value: ${char.charCodeAt(0)}`
      throw new MachineryError('BadSelector', message)
    } else value += char
  }
  return value
}
