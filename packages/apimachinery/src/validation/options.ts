/** Validation of field managers and managedFields. */
import { type FieldError, invalid, tooLong } from '../field/error.ts'
import type { Path } from '../field/path.ts'
import { utf8Length } from '../go/chars.ts'
import { isPrintableCharacter } from '../go/quote.ts'
import type { DeepReadonly, ManagedFieldsEntry } from '../meta/meta.ts'

export const fieldManagerMaxLength = 128
const maxSubresourceNameLength = 256

/** Validates the name of a field manager. */
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
