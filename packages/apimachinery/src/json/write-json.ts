import { encodeText } from '@coxswain/kit'

/**
 * Writes a JSON value as compact text, members in their own order, bigint as digits. What has no JSON form is treated as
 * `JSON.stringify` treats it: an undefined member is left out, NaN becomes null. The depth is not limited by the stack.
 */
export function writeJson(value: unknown): string {
  try {
    const text: string | undefined = JSON.stringify(value)
    return text ?? 'null'
  } catch (error) {
    // A bigint is a TypeError, a deep value a RangeError: both are written the slow way. So is a cycle, until it is
    // recognised below.
    if (error instanceof TypeError || error instanceof RangeError) return writeWithStack(value)
    throw error
  }
}

/** As {@link writeJson}, in UTF-8. */
export function writeJsonBytes(value: unknown): Uint8Array<ArrayBuffer> {
  return encodeText(writeJson(value))
}

/** An array or object being written: `next` is the member that comes next. */
interface Frame {
  readonly container: object
  readonly keys: readonly string[] | undefined
  readonly length: number
  next: number
  empty: boolean
}

function writeWithStack(root: unknown): string {
  const parts: string[] = []
  const stack: Frame[] = []
  const open = new Set<object>()
  const begin = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) {
      parts.push(scalar(value))
      return
    }
    if (hasToJson(value)) {
      begin(value.toJSON())
      return
    }
    if (open.has(value)) throw new TypeError('cannot write a value that contains itself')
    open.add(value)
    const keys = Array.isArray(value) ? undefined : Object.keys(value)
    parts.push(keys === undefined ? '[' : '{')
    const length = keys?.length ?? (value as unknown[]).length
    stack.push({ container: value, keys, length, next: 0, empty: true })
  }
  begin(root)
  for (let frame = stack.at(-1); frame !== undefined; frame = stack.at(-1)) {
    if (frame.next === frame.length) {
      parts.push(frame.keys === undefined ? ']' : '}')
      open.delete(frame.container)
      stack.pop()
      continue
    }
    const index = frame.next++
    if (frame.keys === undefined) {
      if (index > 0) parts.push(',')
      begin((frame.container as unknown[])[index])
      continue
    }
    const key = frame.keys[index]!
    const member = (frame.container as Record<string, unknown>)[key]
    if (member === undefined || typeof member === 'function' || typeof member === 'symbol') continue
    parts.push(frame.empty ? '' : ',', JSON.stringify(key), ':')
    frame.empty = false
    begin(member)
  }
  return parts.join('')
}

function scalar(value: unknown): string {
  if (typeof value === 'bigint') return value.toString()
  const text: string | undefined = JSON.stringify(value)
  return text ?? 'null'
}

function hasToJson(value: object): value is { toJSON(): unknown } {
  return typeof (value as { toJSON?: unknown }).toJSON === 'function'
}
