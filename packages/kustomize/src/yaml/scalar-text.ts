/** How a scalar is written, by the rules of libyaml's emitter, which both libraries behind kustomize are made from. */
export type WrittenStyle = 'plain' | 'single' | 'double' | 'literal' | 'folded'

export interface ScalarAnalysis {
  readonly multiline: boolean
  readonly flowPlain: boolean
  readonly blockPlain: boolean
  readonly single: boolean
  readonly block: boolean
}

const simple = /^[A-Za-z0-9_/.][A-Za-z0-9_/.=+()$;^~\\-]*$/
const allAllowed: ScalarAnalysis = {
  multiline: false,
  flowPlain: true,
  blockPlain: true,
  single: true,
  block: true,
}

export function analyzeScalar(value: string): ScalarAnalysis {
  if (value === '')
    return { multiline: false, flowPlain: false, blockPlain: true, single: true, block: false }
  if (simple.test(value) && !value.startsWith('...')) return allAllowed
  let blockIndicators = value.startsWith('---') || value.startsWith('...')
  let flowIndicators = blockIndicators
  let lineBreaks = false
  let special = false
  let leading = false
  let trailingSpace = false
  let trailingBreak = false
  let breakSpace = false
  let spaceBreak = false
  let previousSpace = false
  let previousBreak = false
  let precededByBlank = true
  const last = value.length - 1
  for (let i = 0; i <= last; i++) {
    const char = value[i]!
    const code = value.charCodeAt(i)
    const followedByBlank = i === last || value[i + 1] === ' ' || value[i + 1] === '\t'
    if (i === 0) {
      if ('#,[]{}&*!|>\'"%@`'.includes(char)) flowIndicators = blockIndicators = true
      else if (char === '?' || char === ':') {
        flowIndicators = true
        if (followedByBlank) blockIndicators = true
      } else if (char === '-' && followedByBlank) flowIndicators = blockIndicators = true
    } else if (',?[]{}'.includes(char)) flowIndicators = true
    else if (char === ':') {
      flowIndicators = true
      if (followedByBlank) blockIndicators = true
    } else if (char === '#' && precededByBlank) flowIndicators = blockIndicators = true
    if (!isPrintable(code)) special = true
    if (char === ' ') {
      if (i === 0) leading = true
      if (i === last) trailingSpace = true
      if (previousBreak) breakSpace = true
      previousSpace = true
      previousBreak = false
    } else if (isBreak(code)) {
      lineBreaks = true
      if (i === 0) leading = true
      if (i === last) trailingBreak = true
      if (previousSpace) spaceBreak = true
      previousSpace = false
      previousBreak = true
    } else previousSpace = previousBreak = false
    precededByBlank = char === ' ' || char === '\t' || isBreak(code)
  }
  const plain = !(
    leading ||
    trailingSpace ||
    trailingBreak ||
    breakSpace ||
    spaceBreak ||
    special ||
    lineBreaks
  )
  return {
    multiline: lineBreaks,
    flowPlain: plain && !flowIndicators,
    blockPlain: plain && !blockIndicators,
    single: !(breakSpace || spaceBreak || special),
    block: !(trailingSpace || spaceBreak || special),
  }
}

const isBreak = (code: number): boolean =>
  code === 0x0a || code === 0x0d || code === 0x85 || code === 0x2028 || code === 0x2029

/** Characters beyond U+FFFF are escaped: their UTF-16 halves are not printable here. */
const isPrintable = (code: number): boolean =>
  code === 0x0a ||
  (code >= 0x20 && code <= 0x7e) ||
  (code >= 0xa0 && code <= 0xd7ff) ||
  (code >= 0xe000 && code <= 0xfffd && code !== 0xfeff)

const escapes: Readonly<Record<number, string>> = {
  0: '0',
  7: 'a',
  8: 'b',
  9: 't',
  10: 'n',
  11: 'v',
  12: 'f',
  13: 'r',
  27: 'e',
  34: '"',
  92: '\\',
  133: 'N',
  160: '_',
  8232: 'L',
  8233: 'P',
}

/** Where a scalar stands: the column it begins at and the indentation of its continuation lines. */
export interface ScalarPlace {
  readonly column: number
  readonly indent: number
  /** Lines are broken at a space past this column; never in a key. */
  readonly width: number
}

export function writePlain(value: string, place: ScalarPlace): string {
  if (place.column + value.length <= place.width) return value
  let text = ''
  let column = place.column
  let afterSpace = false
  const chars = [...value]
  for (let i = 0; i < chars.length; i++) {
    const char = chars[i]!
    if (char === ' ') {
      if (!afterSpace && column > place.width && chars[i + 1] !== ' ') {
        text += `\n${' '.repeat(place.indent)}`
        column = place.indent
      } else {
        text += char
        column++
      }
      afterSpace = true
    } else {
      text += char
      column++
      afterSpace = false
    }
  }
  return text
}

export function writeSingleQuoted(value: string, place: ScalarPlace): string {
  let text = "'"
  let column = place.column + 1
  let afterSpace = false
  let afterBreak = false
  const chars = [...value]
  for (let i = 0; i < chars.length; i++) {
    const char = chars[i]!
    if (char === ' ') {
      if (!afterSpace && column > place.width && i > 0 && i < chars.length - 1 && chars[i + 1] !== ' ') {
        text += `\n${' '.repeat(place.indent)}`
        column = place.indent
      } else {
        text += char
        column++
      }
      afterSpace = true
    } else if (isBreak(char.charCodeAt(0))) {
      if (!afterBreak && char === '\n') text += '\n'
      text += char
      column = 0
      afterBreak = true
    } else {
      if (afterBreak) {
        text += ' '.repeat(place.indent)
        column = place.indent
      }
      text += char === "'" ? "''" : char
      column += char === "'" ? 2 : 1
      afterSpace = afterBreak = false
    }
  }
  return `${text}'`
}

export function writeDoubleQuoted(value: string, place: ScalarPlace): string {
  let text = '"'
  let column = place.column + 1
  let afterSpace = false
  // After a byte order mark the original escapes everything.
  const escapesAll = value.startsWith('\ufeff')
  const chars = [...value]
  for (let i = 0; i < chars.length; i++) {
    const char = chars[i]!
    const code = char.codePointAt(0)!
    if (
      escapesAll ||
      code > 0xffff ||
      !isPrintable(code) ||
      code === 0x0a ||
      isBreak(code) ||
      char === '"' ||
      char === '\\'
    ) {
      const escaped = escapeCode(code)
      text += escaped
      column += escaped.length
      afterSpace = false
    } else if (char === ' ') {
      if (!afterSpace && column > place.width && i > 0 && i < chars.length - 1) {
        text += `\n${' '.repeat(place.indent)}`
        column = place.indent
        if (chars[i + 1] === ' ') {
          text += '\\'
          column++
        }
      } else {
        text += char
        column++
      }
      afterSpace = true
    } else {
      text += char
      column++
      afterSpace = false
    }
  }
  return `${text}"`
}

function escapeCode(code: number): string {
  const known = escapes[code]
  if (known !== undefined) return `\\${known}`
  const digits = code.toString(16).toUpperCase()
  if (code <= 0xff) return `\\x${digits.padStart(2, '0')}`
  return code <= 0xffff ? `\\u${digits.padStart(4, '0')}` : `\\U${digits.padStart(8, '0')}`
}

/** A literal block with its header; without the break after the last line. */
export function writeLiteral(value: string, indent: number): string {
  const margin = ' '.repeat(indent)
  let text = `|${blockHints(value)}\n`
  let atBreak = true
  for (const char of value) {
    if (isBreak(char.charCodeAt(0))) atBreak = true
    else if (atBreak) {
      text += margin
      atBreak = false
    }
    text += char
  }
  return text.endsWith('\n') ? text.slice(0, -1) : text
}

function blockHints(value: string): string {
  const first = value.charCodeAt(0)
  const indentHint = value[0] === ' ' || isBreak(first) ? '2' : ''
  if (!isBreak(value.charCodeAt(value.length - 1))) return `${indentHint}-`
  if (value.length === 1 || isBreak(value.charCodeAt(value.length - 2))) return `${indentHint}+`
  return indentHint
}
