import { decodeFieldSet } from '@coxswain/apimachinery/apply'
import { isMachineryError } from '@coxswain/apimachinery/errors'
import { deepEqual, isObject, type JsonObject } from '@coxswain/apimachinery/json'
import type { Attributes } from './attributes.ts'

/** Restores `metadata.managedFields` when admission has left them invalid. */
export function keepManagedFields({ object, warn }: Attributes, before: unknown): void {
  const metadata = object?.metadata as JsonObject | undefined
  if (!metadata || deepEqual(metadata.managedFields, before)) return
  const problem = describeProblem(metadata.managedFields)
  if (problem === undefined) return
  if (before === undefined) delete metadata.managedFields
  else metadata.managedFields = before
  warn?.(
    `.metadata.managedFields was in an invalid state after admission; this could be caused by an outdated mutating admission controller; please fix your requests: ${problem}`,
  )
}

function describeProblem(entries: unknown): string | undefined {
  if (!Array.isArray(entries)) return undefined
  for (const [index, entry] of entries.entries()) {
    if (!isObject(entry)) return 'entry is not an object'
    const { operation = '', fieldsType = '', fieldsV1 } = entry
    if (operation !== 'Apply' && operation !== 'Update')
      return `managedFields entry ${index} has invalid operation: ${JSON.stringify(operation)}`
    if (fieldsType !== '' && fieldsType !== 'FieldsV1')
      return `managedFields entry ${index} has invalid fieldsType: ${JSON.stringify(fieldsType)}`
    try {
      if (fieldsV1 !== undefined) decodeFieldSet(fieldsV1)
    } catch (error) {
      if (!isMachineryError(error)) throw error
      return error.message
    }
  }
  return undefined
}
