import { MachineryError } from '../errors.ts'

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'
const codes: Int8Array = new Int8Array(128).fill(-1)
for (let i = 0; i < alphabet.length; i++) codes[alphabet.charCodeAt(i)] = i

/** Standard base64 with padding, as Go writes byte slices into JSON. */
export function toBase64(bytes: Uint8Array): string {
  let text = ''
  const whole = bytes.length - (bytes.length % 3)
  for (let i = 0; i < whole; i += 3) {
    const bits = (byteAt(bytes, i) << 16) | (byteAt(bytes, i + 1) << 8) | byteAt(bytes, i + 2)
    text += symbol(bits >> 18) + symbol(bits >> 12) + symbol(bits >> 6) + symbol(bits)
  }
  const rest = bytes.length - whole
  if (rest === 0) return text
  const bits = (byteAt(bytes, whole) << 16) | (rest === 2 ? byteAt(bytes, whole + 1) << 8 : 0)
  return `${text}${symbol(bits >> 18)}${symbol(bits >> 12)}${rest === 2 ? symbol(bits >> 6) : '='}=`
}

/** Reads standard base64; line ends are skipped, as Go does. */
export function fromBase64(text: string): Uint8Array {
  const clean = text.includes('\n') || text.includes('\r') ? text.replaceAll(/[\r\n]/g, '') : text
  if (clean.length % 4 !== 0) throw illegal(clean)
  const padding = clean.endsWith('==') ? 2 : clean.endsWith('=') ? 1 : 0
  const bytes = new Uint8Array((clean.length / 4) * 3 - padding)
  let at = 0
  for (let i = 0; i < clean.length; i += 4) {
    const isLast = i + 4 === clean.length
    const count = isLast ? 4 - padding : 4
    let bits = 0
    for (let k = 0; k < 4; k++) bits = (bits << 6) | (k < count ? codeAt(clean, i + k) : 0)
    for (let shift = 16; shift >= 0 && at < bytes.length; shift -= 8) bytes[at++] = (bits >> shift) & 0xff
  }
  return bytes
}

function byteAt(bytes: Uint8Array, at: number): number {
  return bytes[at] ?? 0
}

function symbol(bits: number): string {
  return alphabet.charAt(bits & 63)
}

function codeAt(text: string, at: number): number {
  const code = codes[text.charCodeAt(at)] ?? -1
  if (code < 0) throw illegal(text)
  return code
}

function illegal(text: string): MachineryError {
  const shown = text.length > 40 ? `${text.slice(0, 40)}...` : text
  return new MachineryError('BadProtobuf', `not base64: ${JSON.stringify(shown)}`)
}
