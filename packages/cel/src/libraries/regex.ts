import { type Library, overload } from '../functions.ts'
import { compileRegex, findAll, findFirst } from '../regex.ts'
import { EvalFault, fault, ListValue, type Value } from '../values.ts'

function legal<T>(pattern: string, body: () => T): T {
  try {
    compileRegex(pattern)
  } catch (error) {
    if (error instanceof EvalFault) return fault(`Illegal regex: ${error.message}`)
    throw error
  }
  return body()
}

function all(text: string, pattern: string, limit = -1): Value {
  return legal(
    pattern,
    () => new ListValue(findAll(text, pattern, limit < 0 ? Number.POSITIVE_INFINITY : limit)),
  )
}

export const regexLibrary: Library = {
  name: 'kubernetes.regex',
  overloads: [
    overload('string_find_string', 'find(this string, string): string', (text: string, pattern: string) =>
      legal(pattern, () => findFirst(text, pattern)),
    ),
    overload('string_find_all_string', 'findAll(this string, string): list<string>', all),
    overload('string_find_all_string_int', 'findAll(this string, string, int): list<string>', all),
  ],
}
