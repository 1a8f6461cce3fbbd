/** Characters of all texts together; beyond it each text is cut, and then no more are taken. As upstream has it. */
const totalLimit = 4 * 1024
const itemLimit = 256

/** The texts of `Warning` headers, each once, in order, until the headers are full. */
export class Warnings {
  #texts: Set<string> | undefined
  /** Characters of all texts, as they are and cut. */
  #total = 0
  #totalCut = 0

  get length(): number {
    return this.#texts?.size ?? 0
  }

  get isFull(): boolean {
    return this.#total > totalLimit && this.#totalCut >= totalLimit
  }

  push(text: string): void {
    this.#texts ??= new Set()
    if (text === '' || this.isFull || this.#texts.has(text)) return
    this.#texts.add(text)
    const length = countCharacters(text)
    this.#total += length
    this.#totalCut += Math.min(length, itemLimit)
  }

  /** Asks for no more texts than the headers have room for. */
  pushAll(texts: Iterable<string>): void {
    for (const text of texts) {
      if (this.isFull) return
      this.push(text)
    }
  }

  /** Lines of `Warning` headers. */
  toHeaders(): string[] {
    const isTooLong = this.#total > totalLimit
    const lines: string[] = []
    for (const text of this.#texts ?? []) lines.push(`299 - "${escapeText(isTooLong ? cut(text) : text)}"`)
    return lines
  }
}

/** Unicode characters, not UTF-16 units. */
function countCharacters(text: string): number {
  let count = 0
  for (const _ of text) count++
  return count
}

function cut(text: string): string {
  return [...text.slice(0, 2 * itemLimit)].slice(0, itemLimit).join('')
}

/** Line ends and other control characters cannot stand in a header. */
function escapeText(text: string): string {
  const printable = [...text].filter(character => {
    const code = character.charCodeAt(0)
    return (code >= 0x20 && code !== 0x7f) || code === 0x09
  })
  return printable.join('').replaceAll('\\', '\\\\').replaceAll('"', '\\"')
}
