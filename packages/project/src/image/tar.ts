import { concatBytes, encodeText } from '@coxswain/kit'
import { checkPath } from '../files/check-path.ts'

/** An entry of a layer. Owner, group and time are the same for all entries. */
export interface TarEntry {
  /** Without a leading or trailing `/`, and without `.` and `..`. */
  readonly path: string
  readonly type: 'file' | 'folder' | 'link'
  /** In bytes, of a file. @default 0 */
  readonly size?: number
  /** Of a file. @default false */
  readonly executable?: boolean
  /** What a symbolic link points to. */
  readonly target?: string
}

export const tarBlock = 512

/** The two empty blocks that end an archive. */
export const tarEnd: Uint8Array = new Uint8Array(2 * tarBlock)

const typeFlags = { file: '0', folder: '5', link: '2', extended: 'x' } as const
const largestOctal = 0o77777777777

/**
 * The header of an entry, whose content and `tarPadding` follow. What does not fit into the ustar format is in an extended (pax) header before it.
 * @param time modification time, in seconds since 1970
 */
export function tarHeader(entry: TarEntry, time: number): Uint8Array {
  checkPath(entry.path)
  const { type, size = 0, target = '' } = entry
  const name = type === 'folder' ? `${entry.path}/` : entry.path
  const records = [
    ...(fits(name, 100) ? [] : [paxRecord('path', name)]),
    ...(fits(target, 100) ? [] : [paxRecord('linkpath', target)]),
    ...(size <= largestOctal ? [] : [paxRecord('size', String(size))]),
  ]
  const mode = type === 'file' && entry.executable !== true ? 0o644 : 0o755
  const header = ustar({ name, mode, size, time, flag: typeFlags[type], target })
  if (records.length === 0) return header
  const extension = concatBytes(records)
  const first = ustar({
    name: 'PaxHeaders/entry',
    mode: 0o644,
    size: extension.length,
    time,
    flag: typeFlags.extended,
    target: '',
  })
  return concatBytes([first, extension, tarPadding(extension.length), header])
}

/** What fills the last block of a content of `size` bytes. */
export function tarPadding(size: number): Uint8Array {
  return new Uint8Array((tarBlock - (size % tarBlock)) % tarBlock)
}

interface Fields {
  readonly name: string
  readonly mode: number
  readonly size: number
  readonly time: number
  readonly flag: string
  readonly target: string
}

function ustar({ name, mode, size, time, flag, target }: Fields): Uint8Array {
  const block = new Uint8Array(tarBlock)
  const put = (offset: number, bytes: Uint8Array, length: number) =>
    block.set(bytes.subarray(0, length), offset)
  const octal = (offset: number, value: number, digits: number) =>
    put(offset, encodeText(value.toString(8).padStart(digits, '0')), digits)
  put(0, encodeText(name), 100)
  octal(100, mode, 7)
  octal(108, 0, 7)
  octal(116, 0, 7)
  octal(124, size > largestOctal ? 0 : size, 11)
  octal(136, time, 11)
  put(148, encodeText('        '), 8)
  put(156, encodeText(flag), 1)
  put(157, encodeText(target), 100)
  put(257, encodeText('ustar\x0000'), 8)
  octal(329, 0, 7)
  octal(337, 0, 7)
  let sum = 0
  for (const byte of block) sum += byte
  put(148, encodeText(`${sum.toString(8).padStart(6, '0')}\0 `), 8)
  return block
}

/** Readers differ in how they read other than ASCII in ustar, so such names go to the extended header. */
function fits(text: string, length: number): boolean {
  return text.length <= length && !/[^\x20-\x7e]/.test(text)
}

/** `LENGTH KEY=VALUE\n`, where the length counts itself. */
function paxRecord(key: string, value: string): Uint8Array {
  const rest = encodeText(` ${key}=${value}\n`)
  let length = rest.length
  while (rest.length + String(length).length !== length) length = rest.length + String(length).length
  return concatBytes([encodeText(String(length)), rest])
}
