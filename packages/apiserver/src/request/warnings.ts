/** The limit of all texts together, in characters; beyond it each text is truncated, and then no more are added. As upstream. */
const totalLimit = 4 * 1024
const itemLimit = 256

/** The texts of `Warning` headers, deduplicated, in order, up to the limit. */
export class Warnings {
  #texts: Set<string> | undefined
  /** Characters of all texts, in full and truncated. */
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

  /** Consumes no more texts than the headers can hold. */
  pushAll(texts: Iterable<string>): void {
    for (const text of texts) {
      if (this.isFull) return
      this.push(text)
    }
  }

  /** The values of the `Warning` headers. */
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

/** Header values cannot contain newlines and other control characters. */
function escapeText(text: string): string {
  const printable = [...text].filter(character => {
    const code = character.charCodeAt(0)
    return (code >= 0x20 && code !== 0x7f) || code === 0x09
  })
  return printable.join('').replaceAll('\\', '\\\\').replaceAll('"', '\\"')
}
