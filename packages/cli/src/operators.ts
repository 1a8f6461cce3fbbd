import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Operator } from '@coxswain/runtime'
import { CommandError } from './exit.ts'

/** Imports the files and takes their default exports. Importing starts nothing. */
export async function loadOperators(files: readonly string[]): Promise<Operator[]> {
  return await Promise.all(files.map(loadOperator))
}

async function loadOperator(file: string): Promise<Operator> {
  const path = resolve(file)
  if (!existsSync(path)) throw new CommandError(`operator ${file}: there is no such file`)
  let module: { default?: unknown }
  try {
    module = await import(pathToFileURL(path).href)
  } catch (error) {
    throw new CommandError(`operator ${file} cannot be loaded: ${(error as Error).message}`, { cause: error })
  }
  if (isOperator(module.default)) return module.default
  throw new CommandError(
    `operator ${file}: its default export is not an operator; export default defineOperator(...)`,
  )
}

function isOperator(value: unknown): value is Operator {
  if (typeof value !== 'object' || value === null) return false
  const { name, setup } = value as Partial<Operator>
  return typeof name === 'string' && typeof setup === 'function'
}
