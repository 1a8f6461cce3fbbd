import { isObject } from '@coxswain/apimachinery/json'
import { readYaml } from '@coxswain/apimachinery/yaml'
import type { FieldSpec } from '../config/inputs.ts'
import {
  addReference,
  emptyConfig,
  mergeConfig,
  mergeSpecs,
  type TransformerConfig,
} from '../config/transformer-config.ts'
import { buildFailed } from '../errors.ts'

type Json = Readonly<Record<string, unknown>>

/** How deep definitions may refer to each other. */
const maxDepth = 100

/** What the OpenAPI definitions of custom kinds say about names, labels and annotations in them. */
export function readCrds(bytes: Uint8Array, path: string): TransformerConfig {
  let definitions: unknown
  try {
    definitions = readYaml(bytes)?.value ?? {}
  } catch (error) {
    throw buildFailed(
      `unable to parse open API definition from '${path}': ${(error as Error).message}`,
      error,
    )
  }
  if (!isObject(definitions)) throw buildFailed(`unable to parse open API definition from '${path}'`)
  let config = emptyConfig
  for (const name of Object.keys(definitions)) {
    const properties = propertiesOf(definitions, name)
    if (properties === undefined) continue
    if (!['kind', 'apiVersion', 'metadata'].every(field => Object.hasOwn(properties, field))) continue
    const reader = new CrdReader(definitions, name.slice(name.lastIndexOf('.') + 1))
    reader.read(name, [])
    config = mergeConfig(config, reader.config)
  }
  return config
}

function propertiesOf(definitions: Json, name: string): Json | undefined {
  const definition = Object.hasOwn(definitions, name) ? definitions[name] : undefined
  const schema = isObject(definition) ? (member(definition, 'Schema') as unknown) : undefined
  const properties = isObject(schema) ? schema.properties : undefined
  return isObject(properties) ? properties : undefined
}

function member(object: Json, name: string): unknown {
  const key = Object.keys(object).find(each => each.toLowerCase() === name.toLowerCase())
  return key === undefined ? undefined : object[key]
}

class CrdReader {
  config: TransformerConfig = emptyConfig
  readonly #definitions: Json
  readonly #kind: string

  constructor(definitions: Json, kind: string) {
    this.#definitions = definitions
    this.#kind = kind
  }

  read(name: string, path: readonly string[]): void {
    if (path.length > maxDepth) throw buildFailed(`the definition of ${this.#kind} refers to itself`)
    for (const [field, property] of Object.entries(propertiesOf(this.#definitions, name) ?? {})) {
      if (!isObject(property)) continue
      const here = [...path, field]
      this.#readProperty(property, here)
      if (typeof property.$ref === 'string') this.read(property.$ref, here)
    }
  }

  #readProperty(property: Json, path: readonly string[]): void {
    const spec = (fields: readonly string[]): FieldSpec => ({
      group: '',
      version: '',
      kind: this.#kind,
      path: fields.join('/'),
      create: false,
    })
    const text = (key: string): string | undefined => {
      const value = property[`x-kubernetes-${key}`]
      return typeof value === 'string' ? value : undefined
    }
    const add = (field: 'commonAnnotations' | 'commonLabels' | 'namePrefix') => {
      this.config = { ...this.config, [field]: mergeSpecs(this.config[field], [spec(path)]) }
    }
    if (text('annotation') !== undefined) add('commonAnnotations')
    if (text('label-selector') !== undefined) add('commonLabels')
    if (text('identity') !== undefined) add('namePrefix')
    const version = text('object-ref-api-version')
    const kind = text('object-ref-kind')
    if (version === undefined || kind === undefined) return
    const referrers = [spec([...path, text('object-ref-name-key') ?? 'name'])]
    this.config = {
      ...this.config,
      nameReference: addReference(this.config.nameReference, { group: '', version, kind, referrers }),
    }
  }
}
