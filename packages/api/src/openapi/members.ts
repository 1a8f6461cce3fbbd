/**
 * Large documents, a piece at a time: with thousands of custom resources one has tens of megabytes and takes seconds to
 * make. The reader can yield between the pieces.
 */
import { writeJson } from '@coxswain/apimachinery/json'
import type { Definition } from '../table/definition.ts'

/** A name and its value, or undefined: a place to pause. */
export type Member = readonly [name: string, value: unknown] | undefined

/** An object whose members are made when they are read, one after the other. A value may be such an object too. */
export class Members {
  readonly read: () => Iterable<Member>

  constructor(read: () => Iterable<Member>) {
    this.read = read
  }
}

/** The whole object. */
export function collectMembers(members: Members): Definition {
  const object: Definition = {}
  for (const member of members.read()) {
    if (member) object[member[0]] = member[1] instanceof Members ? collectMembers(member[1]) : member[1]
  }
  return object
}

/** The pieces of its JSON; empty ones at places to pause. */
export function* writeMembers(members: Members): Generator<string, void, undefined> {
  let separator = '{'
  for (const member of members.read()) {
    if (!member) {
      yield ''
      continue
    }
    const [name, value] = member
    const head = `${separator}${JSON.stringify(name)}:`
    separator = ','
    if (value instanceof Members) {
      yield head
      yield* writeMembers(value)
    } else yield head + writeJson(value)
  }
  yield separator === '{' ? '{}' : '}'
}
