import { isStatusError } from '@coxswain/apimachinery/status'
import { createClient } from '@coxswain/client'
import type { Env } from '@coxswain/kit'
import {
  type InstalledKind,
  isRuntimeError,
  Manager,
  type ManagerOptions,
  type Operator,
} from '@coxswain/runtime'
import { loadOperator } from '@coxswain/runtime/node'
import type { Transport } from '@coxswain/wire'
import { CommandError } from './exit.ts'
import { refuseAbsent } from './host/operator-files.ts'
import { describeImportError } from './import-error.ts'

/** Imports the operators that the files export by default. Importing starts nothing. */
export async function loadOperators(files: readonly string[]): Promise<Operator[]> {
  return await Promise.all(files.map(load))
}

async function load(file: string): Promise<Operator> {
  try {
    const { name, setup } = await settled(loadOperator(file))
    return { name, setup: operator => explainSetup(file, () => setup(operator)) }
  } catch (cause) {
    refuseAbsent([file])
    throw new CommandError(`operator cannot be loaded: ${describe(file, cause)}`, { cause })
  }
}

/** Rejects when nothing is left that could settle the promise: a top-level await that waits forever. */
async function settled<T>(loading: Promise<T>): Promise<T> {
  const { promise: idle, reject } = Promise.withResolvers<never>()
  const onIdle = (): void => reject(new Error('its top-level await never settles'))
  process.once('beforeExit', onIdle)
  try {
    return await Promise.race([loading, idle])
  } finally {
    process.off('beforeExit', onIdle)
  }
}

/** What the user's code throws is reported with its line; what the framework reports has no line. */
function explainSetup<T>(file: string, setup: () => T): T {
  try {
    return setup()
  } catch (cause) {
    if (isRuntimeError(cause)) throw cause
    throw new CommandError(`operator cannot be set up: ${describeImportError(file, cause)}`, { cause })
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
  if (isRuntimeError(error, 'UnsafeInstall') || isStatusError(error))
    return new CommandError(error.message, { cause: error })
  return error
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

/** Throws as `createManager` does, before there is a server to connect to. */
export function checkOperators(
  operators: readonly Operator[],
  { concurrency }: Pick<ManagerOptions, 'concurrency'>,
  env: Env,
): void {
  const transport: Transport = {
    send: () => Promise.reject(new Error('it is not connected')),
    async [Symbol.asyncDispose]() {},
  }
  createManager(operators, {
    client: createClient({ env, transport }),
    env,
    ...(concurrency && { concurrency }),
  })
}
