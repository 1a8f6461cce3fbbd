import { existsSync } from 'node:fs'
import {
  type InstalledKind,
  isRuntimeError,
  Manager,
  type ManagerOptions,
  type Operator,
} from '@coxswain/runtime'
import { loadOperator } from '@coxswain/runtime/node'
import { CommandError } from './exit.ts'
import { describeImportError } from './import-error.ts'

/** Imports the operators that the files export by default. Importing starts nothing. */
export async function loadOperators(files: readonly string[]): Promise<Operator[]> {
  return await Promise.all(files.map(load))
}

async function load(file: string): Promise<Operator> {
  if (!existsSync(file)) throw new CommandError(`operator cannot be loaded: ${file}: does not exist`)
  try {
    return await loadOperator(file)
  } catch (cause) {
    throw new CommandError(`operator cannot be loaded: ${describe(file, cause)}`, { cause })
  }
}

function describe(file: string, cause: unknown): string {
  const isNone = isRuntimeError(cause, 'BadDefinition') && cause.message.startsWith(`${file}: `)
  return isNone ? cause.message : describeImportError(file, cause)
}

/** Reports what happened to a CRD on standard error: standard output has the line that scripts wait for. */
export function tellInstalled({ name, change }: InstalledKind): void {
  process.stderr.write(`customresourcedefinition ${name} ${change}\n`)
}

/** A CRD that was not written needs a decision of the user: one line says why. */
export function explainInstall(error: unknown): unknown {
  return isRuntimeError(error, 'UnsafeInstall') ? new CommandError(error.message, { cause: error }) : error
}

/** One manager for all of them. Conflicting operators, or options that do not match them, are a usage error. */
export function createManager(operators: readonly Operator[], options: ManagerOptions): Manager {
  try {
    return new Manager(operators, options)
  } catch (error) {
    if (!isRuntimeError(error, 'BadDefinition')) throw error
    throw new CommandError(error.message, { exitCode: 2, cause: error })
  }
}
