/** Characters of all texts together; beyond it each text is cut, and then no more are told. As upstream has it. */
const totalLimit = 4 * 1024
const itemLimit = 256

/** `Warning` header lines, each text once, in order. */
export function formatWarnings(warnings: readonly string[]): string[] {
  const texts = [...new Set(warnings)].filter(text => text !== '').map(text => [...text])
  const total = texts.reduce((sum, text) => sum + text.length, 0)
  const isTooLong = total > totalLimit
  const lines: string[] = []
  let written = 0
  for (const text of texts) {
    if (isTooLong && written >= totalLimit) break
    const shown = isTooLong ? text.slice(0, itemLimit) : text
    written += shown.length
    lines.push(`299 - "${escapeText(shown.join(''))}"`)
  }
  return lines
}

/** Line ends and other control characters cannot stand in a header. */
function escapeText(text: string): string {
  const printable = [...text].filter(character => {
    const code = character.charCodeAt(0)
    return (code >= 0x20 && code !== 0x7f) || code === 0x09
  })
  return printable.join('').replaceAll('\\', '\\\\').replaceAll('"', '\\"')
}
