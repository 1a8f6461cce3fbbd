import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { RuntimeError } from '../errors.ts'
import type { Operator } from '../operator.ts'

/**
 * Loads the operator that a file exports by default.
 * @throws RuntimeError `BadDefinition` when it exports none, and whatever importing it throws
 */
export async function loadOperator(file: string): Promise<Operator> {
  const module: { default?: unknown } = await import(pathToFileURL(resolve(file)).href)
  if (!isOperator(module.default)) {
    throw new RuntimeError(
      'BadDefinition',
      `${file}: the default export is not an operator; use export default defineOperator(...)`,
    )
  }
  return module.default
}

function isOperator(value: unknown): value is Operator {
  if (typeof value !== 'object' || value === null) return false
  const { name, setup } = value as Partial<Operator>
  return typeof name === 'string' && typeof setup === 'function'
}
