/** Longer descriptions end after a sentence before that many characters. */
const maxLength = 1_000
const width = 110

/** A TSDoc comment of the text and tags, with a line break at the end; empty when there is nothing to say. */
export function printDocComment(
  text: string | undefined,
  { indent = '', tags = [] }: { readonly indent?: string; readonly tags?: readonly string[] } = {},
): string {
  const lines = [...wrap(shorten(text ?? ''), width - indent.length), ...tags].map(line =>
    // The end of a comment, and a tag that the text never meant as one.
    line.replaceAll('*/', '*\\/'),
  )
  if (lines.length === 0) return ''
  if (lines.length === 1) return `${indent}/** ${lines[0]} */\n`
  return `${indent}/**\n${lines.map(line => `${indent} * ${line}`.trimEnd()).join('\n')}\n${indent} */\n`
}

function shorten(text: string): string {
  if (text.length <= maxLength) return text
  const head = text.slice(0, maxLength)
  const end = Math.max(head.lastIndexOf('. '), head.lastIndexOf('.\n'))
  return end > maxLength / 3 ? head.slice(0, end + 1) : `${head.slice(0, head.lastIndexOf(' '))} ...`
}

/** Paragraphs and lines of lists are kept; everything else is filled. */
function wrap(text: string, room: number): string[] {
  const lines: string[] = []
  for (const source of text.replaceAll('\r', '').trim().split('\n')) {
    // Control characters would end the line, or the comment, in some editors.
    const plain = source.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]/gu, ' ').trim()
    let line = ''
    for (const word of plain.split(' ')) {
      if (line !== '' && line.length + word.length + 1 > room) {
        lines.push(line)
        line = ''
      }
      line = line === '' ? word : `${line} ${word}`
    }
    if (line !== '' || (lines.length > 0 && lines.at(-1) !== '')) lines.push(line)
  }
  return lines.map(line => line.replace(/^@/, '\\@'))
}
