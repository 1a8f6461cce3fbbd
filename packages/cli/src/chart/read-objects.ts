import { readFileSync, statSync } from 'node:fs'
import { isObject, type JsonObject } from '@coxswain/apimachinery/json'
import { readYamlDocuments } from '@coxswain/apimachinery/yaml'
import { buildFolder } from '../deploy/kustomization.ts'
import { CommandError, explainSystemError } from '../exit.ts'

/** The objects of a YAML file, of standard input (`-`), or of a folder with a kustomization. */
export function readObjects(path: string): JsonObject[] {
  const text = readText(path)
  if (text === undefined) return buildFolder(path) as unknown as JsonObject[]
  let values: unknown[]
  try {
    values = readYamlDocuments(text).map(document => document.value)
  } catch (cause) {
    throw new CommandError(`${path}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause })
  }
  return values
    .filter(value => value !== null && value !== undefined)
    .flatMap(value =>
      isObject(value) && value.kind === 'List' && Array.isArray(value.items) ? value.items : [value],
    )
    .map(value => {
      if (!isObject(value) || typeof value.kind !== 'string' || typeof value.apiVersion !== 'string')
        throw new CommandError(
          `${path}: a document is not a Kubernetes object: it has no apiVersion and kind`,
        )
      return value
    })
}

/** Undefined for a folder. */
function readText(path: string): string | undefined {
  try {
    if (path === '-') return readFileSync(0, 'utf8')
    return statSync(path).isDirectory() ? undefined : readFileSync(path, 'utf8')
  } catch (cause) {
    const remedy = (cause as NodeJS.ErrnoException).code === 'ENOENT' ? ': run coxswain manifests first' : ''
    throw new CommandError(`${path} ${explainSystemError(cause)}${remedy}`, { cause })
  }
}
