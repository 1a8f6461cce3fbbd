import { isMachineryError } from '@coxswain/apimachinery/errors'
import { readJson } from '@coxswain/apimachinery/json'
import { encodeText } from '@coxswain/kit'

/** What Go says about text that is not the JSON of an object; undefined when it is. */
export function describeJsonMapError(text: string): string | undefined {
  let value: unknown
  try {
    value = readJson(encodeText(text)).value
  } catch (error) {
    if (isMachineryError(error)) return error.message
    throw error
  }
  if (value === null || (typeof value === 'object' && !Array.isArray(value))) return undefined
  return `json: cannot unmarshal ${describe(value)} into Go value of type map[string]interface {}`
}

function describe(value: unknown): string {
  if (Array.isArray(value)) return 'array'
  if (typeof value === 'boolean') return 'bool'
  return typeof value === 'string' ? 'string' : 'number'
}
