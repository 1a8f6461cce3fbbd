/** Attributes of HTML elements that hold URLs. */
const urlAttributes: Readonly<Record<string, readonly string[]>> = {
  __proto__: null as never,
  a: ['href'],
  applet: ['codebase'],
  area: ['href'],
  audio: ['src'],
  base: ['href'],
  blockquote: ['cite'],
  body: ['background'],
  button: ['formaction'],
  command: ['icon'],
  del: ['cite'],
  embed: ['src'],
  form: ['action'],
  frame: ['longdesc', 'src'],
  head: ['profile'],
  html: ['manifest'],
  iframe: ['longdesc', 'src'],
  img: ['longdesc', 'src', 'usemap'],
  input: ['src', 'usemap', 'formaction'],
  ins: ['cite'],
  link: ['href'],
  object: ['classid', 'codebase', 'data', 'usemap'],
  q: ['cite'],
  script: ['src'],
  source: ['src'],
  video: ['poster', 'src'],
}

/** Elements whose content is raw text up to their end tag. */
const rawElements = new Set([
  'iframe',
  'noembed',
  'noframes',
  'plaintext',
  'script',
  'style',
  'textarea',
  'title',
  'xmp',
])

/** A longer tag or comment is treated as text: most likely a data URL. */
const tagLimit = 32 * 1024

/**
 * Rewrites the URLs in a page as it is streamed. Only attribute values change; all other bytes stay, and only
 * an incomplete tag, comment or raw text is buffered.
 */
export async function* rewriteLinks(
  page: AsyncIterable<Uint8Array>,
  rewrite: (url: string) => string,
): AsyncGenerator<Uint8Array, void, undefined> {
  const rewriter = new LinkRewriter(rewrite)
  // Latin-1 both ways: one character per byte, so that bytes which are not rewritten cannot change.
  for await (const chunk of page) {
    const text = rewriter.push(latin1(chunk))
    if (text !== '') yield bytesOf(text)
  }
  const rest = rewriter.end()
  if (rest !== '') yield bytesOf(rest)
}

class LinkRewriter {
  readonly #rewrite: (url: string) => string
  /** Not yet processed. */
  #held = ''
  /** The element whose end tag is awaited. */
  #raw = ''
  /** How far the buffer has been searched for the end of a tag or comment: each character is scanned once. */
  #scanned = 0
  /** In a tag, at `#scanned`: the quote of the current value, and whether a value may begin. */
  #quote = ''
  #afterEquals = false

  constructor(rewrite: (url: string) => string) {
    this.#rewrite = rewrite
  }

  push(text: string): string {
    this.#held += text
    let out = ''
    for (;;) {
      const done = this.#raw === '' ? this.#step() : this.#skipRaw()
      if (done === undefined) return out
      out += done
    }
  }

  end(): string {
    return this.#held
  }

  /** Takes a token off the buffer; undefined when it is incomplete. */
  #step(): string | undefined {
    const held = this.#held
    if (held === '') return undefined
    const at = held.indexOf('<')
    if (at < 0) return this.#take(held.length)
    if (at > 0) return this.#take(at)
    if (held.startsWith('<!--')) {
      const end = held.indexOf('-->', Math.max(4, this.#scanned - 2))
      this.#scanned = held.length
      return end < 0 ? this.#tooLong() : this.#take(end + 3)
    }
    if (held.length < 4 && '<!--'.startsWith(held)) return undefined
    if (!/^<[A-Za-z]/.test(held)) return held.length < 2 ? undefined : this.#take(1)
    const end = this.#findEndOfTag()
    if (end < 0) return this.#tooLong()
    const tag = this.#take(end)
    const name = (/^<([^\s/>]+)/.exec(tag)?.[1] ?? '').toLowerCase()
    if (rawElements.has(name)) this.#raw = name
    const attributes = urlAttributes[name]
    return attributes ? rewriteTag(tag, attributes, this.#rewrite) : tag
  }

  /** Up to the end tag of a raw element; a possible beginning of it is kept. */
  #skipRaw(): string | undefined {
    const end = this.#held.toLowerCase().indexOf(`</${this.#raw}`)
    if (end >= 0) {
      this.#raw = ''
      return end === 0 ? '' : this.#take(end)
    }
    const sure = this.#held.length - this.#raw.length - 2
    return sure > 0 ? this.#take(sure) : undefined
  }

  #tooLong(): string | undefined {
    return this.#held.length > tagLimit ? this.#take(1) : undefined
  }

  #take(length: number): string {
    const taken = this.#held.slice(0, length)
    this.#held = this.#held.slice(length)
    this.#scanned = 0
    this.#quote = ''
    this.#afterEquals = false
    return taken
  }

  /** The position after the `>` that is not inside quotes; -1 when it has not arrived yet. */
  #findEndOfTag(): number {
    for (; this.#scanned < this.#held.length; this.#scanned++) {
      const character = this.#held[this.#scanned]!
      if (this.#quote !== '') {
        if (character === this.#quote) this.#quote = ''
      } else if (character === '>') return this.#scanned + 1
      else if (this.#afterEquals && (character === '"' || character === "'")) this.#quote = character
      if (!/\s/.test(character)) this.#afterEquals = character === '=' && this.#quote === ''
    }
    return -1
  }
}

const attribute = /([^\s"'<>/=]+)(\s*=\s*)("[^"]*"|'[^']*'|[^\s"'=<>`]+)/g

function rewriteTag(tag: string, names: readonly string[], rewrite: (url: string) => string): string {
  return tag.replace(attribute, (whole, name: string, equals: string, value: string) => {
    if (!names.includes(name.toLowerCase())) return whole
    const quote = value.startsWith('"') || value.startsWith("'") ? value[0]! : ''
    const url = quote === '' ? value : value.slice(1, -1)
    const plain = url.replaceAll('&amp;', '&').trim()
    const changed = rewrite(plain)
    if (changed === plain) return whole
    const mark = quote === '' ? '"' : quote
    const escaped = changed.replaceAll('&', '&amp;').replaceAll(mark, mark === '"' ? '&#34;' : '&#39;')
    return `${name}${equals}${mark}${escaped}${mark}`
  })
}

function latin1(bytes: Uint8Array): string {
  let text = ''
  for (const byte of bytes) text += String.fromCharCode(byte)
  return text
}

function bytesOf(text: string): Uint8Array {
  const bytes = new Uint8Array(text.length)
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i)
  return bytes
}
