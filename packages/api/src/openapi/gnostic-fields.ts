/**
 * What the protobuf forms of OpenAPI documents are made of. Their messages mirror the JSON closely: a map is a list of
 * named values, a value of any form is YAML text (JSON is YAML), and what may be one of several things has a message around
 * it.
 */

import { writeJson } from '@coxswain/apimachinery/json'
import { BackwardWriter } from '@coxswain/kit/protobuf'
import type { Definition } from '../table/definition.ts'
import type { Members } from './members.ts'

/** Writes the bytes of a value, without tag and length. */
export interface Content {
  write(writer: BackwardWriter, value: unknown): void
}

/** Writes a field with its tag; nothing for zero and false, as the messages are proto3. */
export type Field = (writer: BackwardWriter, value: unknown) => void

const lengthDelimited = 2

function wrapped(writer: BackwardWriter, number: number, write: () => void): void {
  const before = writer.length
  write()
  writer.varint(writer.length - before)
  writer.tag(number, lengthDelimited)
}

export function one(number: number, content: Content): Field {
  return (writer, value) => wrapped(writer, number, () => content.write(writer, value))
}

export function many(number: number, content: Content): Field {
  const field = one(number, content)
  return (writer, value) => {
    const list = value as readonly unknown[]
    for (let i = list.length - 1; i >= 0; i--) field(writer, list[i])
  }
}

/** `chosen` for one of several possible fields: that it is this one has to be said, whatever the value. */
export function flag(number: number, chosen = false): Field {
  return (writer, value) => {
    if (value !== true && !chosen) return
    writer.byte(value === true ? 1 : 0)
    writer.tag(number, 0)
  }
}

export function whole(number: number): Field {
  return (writer, value) => {
    if (value === 0) return
    writer.int64(value as number)
    writer.tag(number, 0)
  }
}

/** As {@link flag}. */
export function double(number: number, chosen = false): Field {
  return (writer, value) => {
    if (value === 0 && !chosen) return
    writer.float64(Number(value))
    writer.tag(number, 1)
  }
}

export const text: Content = {
  write: (writer, value) => {
    writer.text(String(value))
  },
}

/** A value of any form. */
export const any: Content = {
  write: (writer, value) => wrapped(writer, 2, () => writer.text(`${writeJson(sorted(value))}\n`)),
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return Object.fromEntries(entries.map(([key, member]) => [key, sorted(member)]))
}

/** A message whose fields are the members of an object; members that begin with `x-` are extensions. */
export function message(fields: Readonly<Record<string, Field>>, extensions?: number): Content {
  const names = Object.keys(fields).reverse()
  const extension = extensions === undefined ? undefined : many(extensions, named(any))
  return {
    write(writer, value) {
      const object = value as Definition
      if (extension !== undefined) {
        extension(
          writer,
          Object.entries(object).filter(([name]) => name.startsWith('x-')),
        )
      }
      for (const name of names) if (object[name] !== undefined) fields[name]?.(writer, object[name])
    },
  }
}

/** An entry of a map. */
export function named(content: Content): Content {
  const value = one(2, content)
  const name = one(1, text)
  return {
    write(writer, entry) {
      const [key, member] = entry as readonly [string, unknown]
      value(writer, member)
      name(writer, key)
    },
  }
}

/** A map as the list of its entries. */
export function map(number: number, content: Content): Content {
  const entries = many(number, named(content))
  return { write: (writer, value) => entries(writer, Object.entries(value as Definition)) }
}

/** A message with one field, chosen by the value. */
export function choice(choose: (value: unknown) => Field): Content {
  return { write: (writer, value) => choose(value)(writer, value) }
}

/** A member of a document that comes in pieces: the number of its field, and what is inside. */
export class Part {
  readonly number: number
  readonly inside: Layout | Field

  constructor(number: number, inside: Layout | Field) {
    this.number = number
    this.inside = inside
  }
}

/** The fields of a document by the names of its members, in ascending order of their numbers. */
export type Layout = Readonly<Record<string, Field | Part>>

const nothing = new Uint8Array(0)

/**
 * The pieces of the message of `members`, whose fields are `inside`, or which is a map with that field for each entry.
 * Lengths come before what they are about, so nothing is given out before all of a part is encoded; until then, empty
 * pieces are places to pause.
 */
export function* encodeMembers(
  members: Members,
  inside: Layout | Field,
): Generator<Uint8Array, void, undefined> {
  if (typeof inside === 'function') {
    for (const member of members.read()) yield member ? bytesOf(writer => inside(writer, member)) : nothing
    return
  }
  const encoded = new Map<string, readonly Uint8Array[]>()
  for (const member of members.read()) {
    yield nothing
    if (!member || !Object.hasOwn(inside, member[0])) continue
    const [name, value] = member
    const field = inside[name]!
    const pieces: Uint8Array[] = []
    if (typeof field === 'function') pieces.push(bytesOf(writer => field(writer, value)))
    else {
      const { number, inside: fields } = field
      let length = 0
      for (const piece of encodeMembers(value as Members, fields)) {
        yield nothing
        length += piece.length
        if (piece.length > 0) pieces.push(piece)
      }
      pieces.unshift(
        bytesOf(writer => {
          writer.varint(length)
          writer.tag(number, lengthDelimited)
        }),
      )
    }
    encoded.set(name, pieces)
  }
  for (const name of Object.keys(inside)) yield* encoded.get(name) ?? []
}

function bytesOf(write: (writer: BackwardWriter) => void): Uint8Array {
  const writer = new BackwardWriter()
  write(writer)
  return writer.finish()
}
