import { getHeaderValues, type WireHeaders } from '@coxswain/wire'
import type { Warning } from './options.ts'

/** `299 - "text"`, perhaps with a quoted date behind. */
const form = /\s*(\d{3})\s+(\S+)\s+"((?:[^"\\]|\\.)*)"(?:\s+"[^"]*")?\s*(?:,|$)/y

/** Every well-formed value of the `Warning` headers; what follows a malformed one is dropped. */
export function parseWarnings(headers: WireHeaders): Warning[] {
  const warnings: Warning[] = []
  for (const value of getHeaderValues(headers, 'warning')) {
    form.lastIndex = 0
    while (form.lastIndex < value.length) {
      const match = form.exec(value)
      if (!match) break
      const [, code = '', agent = '', text = ''] = match
      warnings.push({ code: Number(code), agent, text: text.replace(/\\(.)/g, '$1') })
    }
  }
  return warnings
}
