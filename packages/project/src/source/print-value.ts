import { isObject } from '@coxswain/apimachinery/json'
import { printKey, printString } from './identifier.ts'

/** Lines are at most that long, if they can be. */
const width = 140

/** A JSON value as a TypeScript literal: on one line where it fits, else a member a line. `indent` is that of its first line. */
export function printValue(value: unknown, indent = ''): string {
  const flat = printFlat(value, width - indent.length)
  if (flat !== undefined) return flat
  const inner = `${indent}  `
  if (Array.isArray(value)) {
    const items = value.map(item => `${inner}${printValue(item, inner)},\n`)
    return `[\n${items.join('')}${indent}]`
  }
  if (!isObject(value)) return printScalar(value)
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .map(([key, member]) => `${inner}${printMemberKey(key)}: ${printValue(member, inner)}${suffix(key)},\n`)
  return `{\n${members.join('')}${indent}}`
}

/** The value on one line of at most `room` characters. */
function printFlat(value: unknown, room: number): string | undefined {
  if (room <= 0) return undefined
  if (Array.isArray(value)) return printFlatList(value, room)
  if (!isObject(value)) return printScalar(value).length <= room ? printScalar(value) : undefined
  const entries = Object.entries(value).filter(([, member]) => member !== undefined)
  if (entries.length === 0) return '{}'
  let text = '{ '
  for (const [index, [key, member]] of entries.entries()) {
    text += `${index === 0 ? '' : ', '}${printMemberKey(key)}: `
    const flat = printFlat(member, room - text.length - 2)
    if (flat === undefined) return undefined
    text += `${flat}${suffix(key)}`
  }
  return `${text} }`
}

function printFlatList(items: readonly unknown[], room: number): string | undefined {
  let text = '['
  for (const [index, item] of items.entries()) {
    if (index > 0) text += ', '
    const flat = printFlat(item, room - text.length - 1)
    if (flat === undefined) return undefined
    text += flat
  }
  return `${text}]`
}

function printScalar(value: unknown): string {
  if (typeof value === 'string') return printString(value)
  if (typeof value === 'bigint') return `${value}n`
  return String(value)
}

/** `__proto__` would set the prototype, quoted or not. */
function printMemberKey(key: string): string {
  return key === '__proto__' ? "['__proto__']" : printKey(key)
}

/** The compiler gives members that every object has no type from their surroundings. */
function suffix(key: string): string {
  return key in Object.prototype ? ' as const' : ''
}
