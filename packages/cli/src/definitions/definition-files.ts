import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { readYamlDocuments } from '@coxswain/apimachinery/yaml'
import { isDefinition, type ReadDefinition, readDefinition } from '@coxswain/project/definitions'
import { convertDefinition, isOldDefinition } from '../convert/convert-definition.ts'
import { CommandError, explainSystemError } from '../exit.ts'

/** The CRDs of a file, of all YAML and JSON files in a folder, or of standard input (`-`). Other objects are ignored. */
export function definitionsFromPath(path: string): ReadDefinition[] {
  try {
    if (path === '-') return definitionsFromText(readFileSync(0, 'utf8'), 'standard input')
    if (!statSync(path).isDirectory()) return definitionsFromText(readFileSync(path, 'utf8'), path)
    return manifestsIn(path).flatMap(file => {
      const text = readFileSync(file, 'utf8')
      // Other manifests may be templates, which are not YAML.
      return text.includes('CustomResourceDefinition') ? definitionsFromText(text, file) : []
    })
  } catch (error) {
    if (error instanceof CommandError) throw error
    throw new CommandError(`${path} ${explainSystemError(error)}`, { cause: error })
  }
}

/** Bundles of many CRDs are larger than what a server accepts in one request. */
const limits = { maxBytes: 64 * 2 ** 20, maxNodes: 5_000_000 }

/** v1beta1 CRDs are converted. `source` is what errors name. */
export function definitionsFromText(text: string, source: string): ReadDefinition[] {
  try {
    return readYamlDocuments(text, limits)
      .flatMap(({ value }) => itemsOf(value))
      .filter(isDefinition)
      .map(value => readDefinition(isOldDefinition(value) ? convertDefinition(value).object : value))
  } catch (error) {
    throw new CommandError(`${source}: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    })
  }
}

function itemsOf(value: unknown): readonly unknown[] {
  const isList = typeof value === 'object' && value !== null && 'items' in value && Array.isArray(value.items)
  return isList ? (value.items as unknown[]) : [value]
}

export const manifestName: RegExp = /\.(?:ya?ml|json)$/

function manifestsIn(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true })
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap(entry => {
      const path = join(folder, entry.name)
      if (entry.isDirectory())
        return entry.name === 'node_modules' || entry.name.startsWith('.') ? [] : manifestsIn(path)
      return manifestName.test(entry.name) ? [path] : []
    })
}
