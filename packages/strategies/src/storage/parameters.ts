import * as field from '@coxswain/apimachinery/field'
import { textLength } from '../core/data.ts'
import { type Findings, validateQualifiedName } from '../shared/reading.ts'

const maxSize = 256 * 1024
const maxCount = 512

/** The bytes of all keys and values. */
export function mapSize(map: Record<string, string>): number {
  return Object.entries(map).reduce((size, [key, value]) => size + textLength(key) + textLength(value), 0)
}

/** The parameters that a class passes to its driver. */
export function* validateParameters(
  value: Readonly<Record<string, string>> | null | undefined,
  path: field.Path,
): Findings {
  const parameters = value ?? {}
  if (Object.keys(parameters).length > maxCount) {
    yield field.tooLong(path, maxCount)
    return
  }
  if (Object.hasOwn(parameters, '')) yield field.invalid(path, '', 'field can not be empty.')
  if (mapSize(parameters) > maxSize) yield field.tooLong(path, maxSize)
}

/** The name of a driver that provisions volumes. */
export function* validateProvisioner(value: string | undefined, path: field.Path): Findings {
  const name = value ?? ''
  if (name === '') yield field.required(path)
  else yield* validateQualifiedName(name.toLowerCase(), path)
}
