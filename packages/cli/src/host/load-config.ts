import { existsSync } from 'node:fs'
import { dirname, isAbsolute, join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type Command, InvalidArgumentError } from 'commander'
import { CommandError } from '../exit.ts'
import { describeImportError } from '../import-error.ts'
import type { RunConfig } from './config.ts'
import { propertyOf, runSettings, type Setting } from './settings.ts'

/** Looked for in the working directory, in this order. */
const usualNames = ['coxswain.config.ts', 'coxswain.config.js', 'coxswain.config.mjs']

export interface LoadedConfig {
  readonly file: string
  readonly config: RunConfig
}

/** The configuration file that was named, or the one of the working directory; undefined when there is none. */
export function findConfig(named: string | undefined): string | undefined {
  if (named !== undefined && !existsSync(named))
    throw new CommandError(`--config ${named}: does not exist`, { exitCode: 2 })
  return named ?? usualNames.find(name => existsSync(name))
}

/** What that file says; undefined when there is none. */
export async function loadConfig(named: string | undefined): Promise<LoadedConfig | undefined> {
  const file = findConfig(named)
  if (file === undefined) return undefined
  let module: { default?: unknown }
  try {
    module = await import(pathToFileURL(resolve(file)).href)
  } catch (cause) {
    throw new CommandError(describeImportError(file, cause), { exitCode: 2, cause })
  }
  const { default: config } = module
  if (typeof config !== 'object' || config === null || Array.isArray(config))
    throw new CommandError(
      `${file}: the default export is not a configuration; use export default defineConfig({ ... })`,
      {
        exitCode: 2,
      },
    )
  return { file, config }
}

/** Sets the options that neither the command line nor the environment sets from the file; those of `run` that this command has not are left out. */
export function applyConfig(
  command: Command,
  settings: readonly Setting[],
  { file, config }: LoadedConfig,
): void {
  const known = new Map<string, Setting>(
    [...runSettings, ...settings].map(setting => [propertyOf(setting), setting]),
  )
  const own = new Set<string>(settings.map(propertyOf))
  for (const [property, value] of Object.entries(config)) {
    if (value === undefined || property === 'operators') continue
    const setting = known.get(property)
    if (!setting) throw new CommandError(`${file}: unknown setting ${property}`, { exitCode: 2 })
    const read = readSetting(setting, value, file)
    if (!own.has(property)) continue
    const source = command.getOptionValueSource(property)
    if (source !== 'cli' && source !== 'env') command.setOptionValueWithSource(property, read, 'config')
  }
}

/** The operators in the file, relative to the file. */
export function operatorsOf({ file, config }: LoadedConfig): string[] {
  const { operators = [] } = config
  if (!Array.isArray(operators) || operators.some(each => typeof each !== 'string' || each === ''))
    throw new CommandError(`${file}: operators must be a list of files`, { exitCode: 2 })
  return operators.map(each => (isAbsolute(each) ? each : join(dirname(file), each)))
}

function readSetting(setting: Setting, value: unknown, file: string): unknown {
  try {
    const text = textOf(value)
    const isPath = setting.value === '<file>' || setting.value === '<dir>'
    return setting.read(isPath && text !== '' && !isAbsolute(text) ? join(dirname(file), text) : text)
  } catch (error) {
    if (!(error instanceof InvalidArgumentError)) throw error
    throw new CommandError(`${file}: ${propertyOf(setting)}: ${error.message}`, { exitCode: 2 })
  }
}

/** A value of the file in the format of its flag. */
function textOf(value: unknown): string {
  if (Array.isArray(value)) return value.map(textOf).join(',')
  if (typeof value === 'object' && value !== null)
    return Object.entries(value)
      .map(([name, each]) => `${name}=${textOf(each)}`)
      .join(',')
  return String(value)
}
