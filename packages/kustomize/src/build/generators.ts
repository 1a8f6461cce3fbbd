import { compareCodePoints } from '@coxswain/apimachinery/go'
import type { GeneratorArguments, GeneratorOptions } from '../config/kustomization.ts'
import { buildFailed, withPrefix } from '../errors.ts'
import type { DataValue } from '../resource/data.ts'
import { setConfigMapData, setSecretData } from '../resource/data.ts'
import { type Behavior, Resource } from '../resource/resource.ts'
import type { Schemas } from '../schema/schemas.ts'
import { mappingNode, scalarNode, stringNode, tags, type YamlNode } from '../yaml/node.ts'
import { lookup, setField } from '../yaml/tree.ts'
import type { Loader } from './loader.ts'
import { baseName } from './paths.ts'

export interface GeneratorContext {
  readonly loader: Loader
  readonly schemas: Schemas
}

/** Options of the kustomization where a generator has none of its own. */
export function mergeOptions(
  own: GeneratorOptions | undefined,
  common: GeneratorOptions | undefined,
): GeneratorOptions | undefined {
  if (common === undefined) return own
  const merge = (field: 'labels' | 'annotations') =>
    own?.[field] === undefined && common[field] === undefined
      ? {}
      : { [field]: new Map([...(common[field] ?? []), ...(own?.[field] ?? [])]) }
  return {
    ...own,
    ...merge('labels'),
    ...merge('annotations'),
    ...(common.disableNameSuffixHash && { disableNameSuffixHash: true }),
    ...(common.immutable && { immutable: true }),
  }
}

/** A ConfigMap or Secret from files, literals and environment files. */
export function generate(
  kind: 'ConfigMap' | 'Secret',
  args: GeneratorArguments,
  context: GeneratorContext,
): Resource {
  const { name = '', namespace = '', options } = args
  if (name === '') throw buildFailed('a configmap must have a name')
  const root = mappingNode()
  setField(root, 'apiVersion', { value: scalarNode('v1', tags.string) })
  setField(root, 'kind', { value: scalarNode(kind, tags.string) })
  const metadata = lookup(root, ['metadata'], 'mapping')!
  setField(metadata, 'name', { value: stringNode(name) })
  if (namespace !== '') setField(metadata, 'namespace', { value: stringNode(namespace) })
  if (kind === 'Secret') setField(root, 'type', { value: stringNode(args.type || 'Opaque') })
  const data = loadData(args, context.loader)
  if (kind === 'Secret') lookup(root, ['data'], 'mapping')
  for (const key of [...data.keys()].sort(compareCodePoints)) {
    if (kind === 'ConfigMap') setConfigMapData(root, key, textIfValid(data.get(key)!))
    else setSecretData(root, key, data.get(key)!)
  }
  addMetadata(root, 'labels', options?.labels)
  addMetadata(root, 'annotations', options?.annotations)
  if (options?.immutable) setField(root, 'immutable', { value: scalarNode('true', tags.boolean) })
  const resource = new Resource(root, context.schemas)
  if (!options?.disableNameSuffixHash) resource.enable('needsHash')
  resource.behavior = toBehavior(args.behavior)
  return resource
}

const toBehavior = (text: string | undefined): Behavior =>
  text === 'create' || text === 'replace' || text === 'merge' ? text : 'unspecified'

function addMetadata(
  root: YamlNode,
  field: 'labels' | 'annotations',
  values: ReadonlyMap<string, string> | undefined,
): void {
  for (const key of [...(values?.keys() ?? [])].sort(compareCodePoints)) {
    const node = stringNode(values!.get(key)!)
    node.style = 'single'
    setField(lookup(root, ['metadata', field], 'mapping')!, key, { value: node })
  }
}

function textIfValid(bytes: Uint8Array): DataValue {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return bytes
  }
}

/** Environment files, then literals, then files; no key may come twice. */
function loadData(args: GeneratorArguments, loader: Loader): Map<string, Uint8Array> {
  const data = new Map<string, Uint8Array>()
  const add = (key: string, value: Uint8Array): void => {
    if (data.has(key)) throw buildFailed(`configmap ${args.name ?? ''} illegally repeats the key \`${key}\``)
    data.set(key, value)
  }
  const encoder = new TextEncoder()
  withPrefix('loading KV pairs', () => {
    const pairs: [string, Uint8Array][] = []
    for (const path of args.envs ?? [])
      for (const [key, value] of readEnvironment(loader.load(path))) pairs.push([key, encoder.encode(value)])
    for (const literal of args.literals ?? []) {
      const [key, value] = readLiteral(literal)
      pairs.push([key, encoder.encode(value)])
    }
    for (const source of args.files ?? []) {
      const [key, path] = readFileSource(source)
      pairs.push([key, loader.load(path)])
    }
    for (const [key, value] of pairs) add(key, value)
  })
  return data
}

function readEnvironment(bytes: Uint8Array): [string, string][] {
  let text: string
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch (error) {
    throw buildFailed('an environment file is not valid UTF-8', error)
  }
  const pairs: [string, string][] = []
  for (const each of text.split('\n')) {
    const line = each.replace(/\r$/, '').replace(/^[\s\u0085]+/, '')
    if (line === '' || line.startsWith('#')) continue
    const at = line.indexOf('=')
    const key = at < 0 ? line : line.slice(0, at)
    if (key !== '') pairs.push([key, at < 0 ? '' : line.slice(at + 1)])
  }
  return pairs
}

function readLiteral(source: string): [string, string] {
  const at = source.indexOf('=')
  if (at <= 0) throw buildFailed(`literal sources: invalid literal source ${source}, expected key=value`)
  const value = source.slice(at + 1)
  const isQuoted = value.length >= 2 && value[0] === value.at(-1) && (value[0] === '"' || value[0] === "'")
  return [source.slice(0, at), isQuoted ? value.slice(1, -1) : value]
}

function readFileSource(source: string): [string, string] {
  const parts = source.split('=')
  if (parts.length === 1) return [baseName(source), source]
  if (parts.length > 2) throw buildFailed(`source "${source}" key name or file path contains '='`)
  const [key, path] = parts as [string, string]
  if (key === '') throw buildFailed(`missing key name for file path "${path}" in source "${source}"`)
  if (path === '') throw buildFailed(`missing file path for key name "${key}" in source "${source}"`)
  return [key, path]
}
