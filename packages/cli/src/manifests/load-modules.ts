import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type AnyDefinedKind, isDefinedKind } from '@coxswain/apimachinery/kinds'
import type { Operator } from '@coxswain/runtime'
import { CommandError } from '../exit.ts'
import { refuseAbsent } from '../host/operator-files.ts'
import { describeImportError } from '../import-error.ts'

export interface LoadedModules {
  /** The default exports that are operators. */
  readonly operators: readonly Operator[]
  /** The kinds among all exports. */
  readonly kinds: readonly AnyDefinedKind[]
}

/** Imports modules for the operators and kinds that they export. */
export async function loadModules(files: readonly string[]): Promise<LoadedModules> {
  const operators: Operator[] = []
  const kinds = new Set<AnyDefinedKind>()
  for (const file of files) {
    const module = await importModule(file)
    const found = Object.values(module).filter(isDefinedKind)
    if (isOperator(module.default)) operators.push(module.default)
    else if (found.length === 0)
      throw new CommandError(
        `${file}: exports neither an operator nor a kind; use export default defineOperator(...) or export const X = defineKind(...)`,
      )
    for (const kind of found) kinds.add(kind)
  }
  return { operators, kinds: [...kinds] }
}

async function importModule(file: string): Promise<Readonly<Record<string, unknown>>> {
  try {
    return (await import(pathToFileURL(resolve(file)).href)) as Record<string, unknown>
  } catch (cause) {
    refuseAbsent([file])
    throw new CommandError(`operator cannot be loaded: ${describeImportError(file, cause)}`, { cause })
  }
}

function isOperator(value: unknown): value is Operator {
  if (typeof value !== 'object' || value === null) return false
  const { name, setup } = value as Partial<Operator>
  return typeof name === 'string' && typeof setup === 'function'
}
