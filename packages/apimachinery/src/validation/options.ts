/** Validation of request options and of managedFields entries. */
import { type FieldError, forbidden, invalid, notSupported, required, tooLong } from '../field/error.ts'
import { Path } from '../field/path.ts'
import { utf8Length } from '../go/chars.ts'
import { isPrintableCharacter } from '../go/quote.ts'
import type { DeepReadonly, ManagedFieldsEntry } from '../meta/meta.ts'

export const fieldManagerMaxLength = 128
const maxSubresourceNameLength = 256

/** The options of create, update and patch, as far as they are validated. */
export interface WriteOptions {
  readonly fieldManager?: string
  readonly dryRun?: readonly string[]
  readonly fieldValidation?: string
  /** Apply patches only. */
  readonly force?: boolean
}

export interface DeleteOptionsToValidate {
  readonly orphanDependents?: boolean
  readonly propagationPolicy?: string
  readonly dryRun?: readonly string[]
}

export function validateFieldManager(fieldManager: string, path: Path): FieldError[] {
  const errors: FieldError[] = []
  if (utf8Length(fieldManager) > fieldManagerMaxLength) errors.push(tooLong(path, fieldManagerMaxLength))
  let position = 0
  for (const char of fieldManager) {
    if (!isPrintableCharacter(char)) {
      const code = char.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')
      errors.push(invalid(path, fieldManager, `invalid character U+${code} (at position ${position})`))
    }
    position += utf8Length(char)
  }
  return errors
}

function validateDryRun(dryRun: readonly string[] = []): FieldError[] {
  if (dryRun.every(value => value === 'All')) return []
  return [notSupported(Path.of('dryRun'), dryRun, ['All'])]
}

const fieldValidations = ['', 'Ignore', 'Strict', 'Warn']

/** For create and update. */
export function validateWriteOptions(options: WriteOptions): FieldError[] {
  const { fieldManager = '', dryRun, fieldValidation = '' } = options
  const errors = validateFieldManager(fieldManager, Path.of('fieldManager'))
  for (const error of validateDryRun(dryRun)) errors.push(error)
  if (!fieldValidations.includes(fieldValidation)) {
    errors.push(notSupported(Path.of('fieldValidation'), fieldValidation, fieldValidations))
  }
  return errors
}

export function validatePatchOptions(options: WriteOptions, isApply: boolean): FieldError[] {
  const errors: FieldError[] = []
  if (isApply && !options.fieldManager) {
    errors.push(required(Path.of('fieldManager'), 'is required for apply patch'))
  }
  if (!isApply && options.force !== undefined) {
    errors.push(forbidden(Path.of('force'), 'may not be specified for non-apply patch'))
  }
  return [...errors, ...validateWriteOptions(options)]
}

const propagationPolicies = ['Foreground', 'Background', 'Orphan']

export function validateDeleteOptions(options: DeleteOptionsToValidate): FieldError[] {
  const errors: FieldError[] = []
  const { propagationPolicy, orphanDependents, dryRun } = options
  const path = Path.of('propagationPolicy')
  if (orphanDependents !== undefined && propagationPolicy !== undefined) {
    const detail = 'orphanDependents and deletionPropagation cannot be both set'
    errors.push(invalid(path, propagationPolicy, detail))
  }
  if (propagationPolicy !== undefined && !propagationPolicies.includes(propagationPolicy)) {
    errors.push(notSupported(path, propagationPolicy, [...propagationPolicies, 'nil']))
  }
  return [...errors, ...validateDryRun(dryRun)]
}

export function validateManagedFields(
  entries: readonly DeepReadonly<ManagedFieldsEntry>[],
  path: Path,
): FieldError[] {
  return entries.flatMap((entry, index) => {
    const at = path.index(index)
    const errors: FieldError[] = []
    const { operation = '', fieldsType = '', manager = '', subresource = '' } = entry
    if (operation !== 'Apply' && operation !== 'Update') {
      errors.push(invalid(at.child('operation'), operation, 'must be `Apply` or `Update`'))
    }
    if (fieldsType !== '' && fieldsType !== 'FieldsV1') {
      errors.push(invalid(at.child('fieldsType'), fieldsType, 'must be `FieldsV1`'))
    }
    for (const error of validateFieldManager(manager, at.child('manager'))) errors.push(error)
    if (utf8Length(subresource) > maxSubresourceNameLength) {
      errors.push(tooLong(at.child('subresource'), maxSubresourceNameLength))
    }
    return errors
  })
}
