import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { readYamlDocuments } from '@coxswain/apimachinery/yaml'
import type { Sample } from '@coxswain/simulator'

/** The objects in `sample.yaml` and `config/samples/` beside the operator. */
export function readSamples(file: string): Sample[] {
  const folder = dirname(file)
  return ['sample.yaml', 'config/samples']
    .map(name => join(folder, name))
    .filter(existsSync)
    .flatMap(filesOf)
    .flatMap(path => readYamlDocuments(readFileSync(path)).map(({ value }) => value))
    .filter(isSample)
}

function filesOf(path: string): string[] {
  if (!statSync(path).isDirectory()) return [path]
  return readdirSync(path)
    .filter(name => /\.ya?ml$/.test(name))
    .sort()
    .map(name => join(path, name))
}

function isSample(value: unknown): value is Sample {
  const { apiVersion, kind, metadata } = (value ?? {}) as Partial<Sample>
  return typeof apiVersion === 'string' && typeof kind === 'string' && typeof metadata?.name === 'string'
}
