import { execFile } from 'node:child_process'
import { readFileSync, statSync } from 'node:fs'
import { promisify } from 'node:util'
import { isObject, type JsonObject } from '@coxswain/apimachinery/json'
import { readYamlDocuments } from '@coxswain/apimachinery/yaml'
import { CommandError, explainSystemError } from '../exit.ts'

/** The objects of a YAML file, of standard input (`-`), or of a folder with a kustomization. */
export async function readObjects(path: string): Promise<JsonObject[]> {
  const text = await readText(path)
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

async function readText(path: string): Promise<string> {
  try {
    if (path === '-') return readFileSync(0, 'utf8')
    return statSync(path).isDirectory() ? await buildKustomization(path) : readFileSync(path, 'utf8')
  } catch (cause) {
    if (cause instanceof CommandError) throw cause
    const remedy = (cause as NodeJS.ErrnoException).code === 'ENOENT' ? ': run coxswain manifests first' : ''
    throw new CommandError(`${path} ${explainSystemError(cause)}${remedy}`, { cause })
  }
}

/** The largest output of a kustomization. */
const maxOutput = 64 * 1024 * 1024

async function buildKustomization(folder: string): Promise<string> {
  try {
    return (await promisify(execFile)('kubectl', ['kustomize', folder], { maxBuffer: maxOutput })).stdout
  } catch (cause) {
    const { code, stderr } = cause as NodeJS.ErrnoException & { readonly stderr?: string }
    if (code === 'ENOENT')
      throw new CommandError('kubectl is not in PATH; it builds kustomizations', { cause })
    throw new CommandError(
      `${folder}: ${(stderr ?? '').trim().split('\n')[0] || explainSystemError(cause)}`,
      { cause },
    )
  }
}
