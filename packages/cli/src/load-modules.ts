import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type AnyDefinedKind, isDefinedKind } from '@coxswain/apimachinery/kinds'
import type { Operator } from '@coxswain/runtime'
import { CommandError } from './exit.ts'
import { type LoadedConfig, operatorsOf } from './host/load-config.ts'
import { refuseAbsent } from './host/operator-files.ts'
import { describeImportError } from './import-error.ts'

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

/** The given files, else the operators of the configuration, else `operator.ts`. */
export function chooseModules(files: readonly string[], config: LoadedConfig | undefined): readonly string[] {
  if (files.length > 0) return files
  const configured = config ? operatorsOf(config) : []
  if (configured.length > 0) return configured
  if (existsSync('operator.ts')) return ['operator.ts']
  throw new CommandError(
    'no operators: name files, list operators in coxswain.config.ts, or create operator.ts',
    { exitCode: 2 },
  )
}
