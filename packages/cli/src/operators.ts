import { existsSync } from 'node:fs'
import { isRuntimeError, type Operator } from '@coxswain/runtime'
import { loadOperator } from '@coxswain/runtime/node'
import { CommandError } from './exit.ts'

/** Imports the files and takes their default exports. Importing starts nothing. */
export async function loadOperators(files: readonly string[]): Promise<Operator[]> {
  return await Promise.all(files.map(load))
}

async function load(file: string): Promise<Operator> {
  if (!existsSync(file)) throw new CommandError(`operator ${file}: there is no such file`)
  try {
    return await loadOperator(file)
  } catch (cause) {
    const { message } = cause as Error
    const isNone = isRuntimeError(cause, 'BadDefinition')
    throw new CommandError(isNone ? `operator ${message}` : `operator ${file} cannot be loaded: ${message}`, {
      cause,
    })
  }
}
