import { newBadRequest } from '@coxswain/apimachinery/status'
import type { QueryParameters } from '@coxswain/wire'
import { isTrue } from './request-info.ts'

/** Parses an integer; the error is Go's. */
export function readInteger(query: QueryParameters, name: string): number | undefined {
  const text = query.get(name)
  if (text === undefined) return undefined
  if (!/^[+-]?[0-9]+$/.test(text))
    throw newBadRequest(`strconv.ParseInt: parsing ${JSON.stringify(text)}: invalid syntax`)
  const value = BigInt(text)
  if (value > 9223372036854775807n || value < -9223372036854775808n) {
    throw newBadRequest(`strconv.ParseInt: parsing ${JSON.stringify(text)}: value out of range`)
  }
  return Number(value)
}

export function readBoolean(query: QueryParameters, name: string): boolean | undefined {
  const text = query.get(name)
  return text === undefined ? undefined : isTrue(text)
}
