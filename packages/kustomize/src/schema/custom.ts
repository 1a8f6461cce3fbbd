import { isObject } from '@coxswain/apimachinery/json'
import { readYaml } from '@coxswain/apimachinery/yaml'
import { buildFailed } from '../errors.ts'
import { type MergeSchema, opaqueSchema } from './merge-schema.ts'

type Json = Readonly<Record<string, unknown>>

/** The kinds that the OpenAPI document of a kustomization describes. */
export class CustomSchemas {
  readonly #definitions: Json
  readonly #kinds = new Map<string, Json>()
  readonly #namespaced = new Map<string, boolean>()

  constructor(bytes: Uint8Array) {
    let document: unknown
    try {
      document = readYaml(bytes)?.value
    } catch (error) {
      throw buildFailed(`invalid schema file: ${(error as Error).message}`, error)
    }
    if (!isObject(document)) throw buildFailed('invalid schema file: not an OpenAPI document')
    this.#definitions = isObject(document.definitions) ? document.definitions : {}
    for (const definition of Object.values(this.#definitions)) {
      const kinds = isObject(definition) ? definition['x-kubernetes-group-version-kind'] : undefined
      if (!Array.isArray(kinds)) continue
      for (const kind of kinds) if (isObject(kind)) this.#kinds.set(kindKey(kind), definition as Json)
    }
    if (isObject(document.paths)) this.#readScopes(document.paths)
  }

  #readScopes(paths: Json): void {
    for (const [path, item] of Object.entries(paths)) {
      const get = isObject(item) ? item.get : undefined
      const kind = isObject(get) ? get['x-kubernetes-group-version-kind'] : undefined
      if (!isObject(kind)) continue
      const key = kindKey(kind)
      if (path.includes('namespaces/{namespace}')) this.#namespaced.set(key, true)
      else if (!this.#namespaced.has(key)) this.#namespaced.set(key, false)
    }
  }

  schema(apiVersion: string, kind: string): MergeSchema | undefined {
    const definition = this.#kinds.get(`${apiVersion} ${kind}`)
    return definition === undefined ? undefined : this.#schemaOf(definition)
  }

  isNamespaced(apiVersion: string, kind: string): boolean | undefined {
    return this.#namespaced.get(`${apiVersion} ${kind}`)
  }

  #schemaOf(start: unknown): MergeSchema | undefined {
    let node = start
    for (let hops = 0; isObject(node) && typeof node.$ref === 'string'; hops++) {
      if (hops > 100) return undefined
      const name = node.$ref.slice('#/definitions/'.length)
      node = Object.hasOwn(this.#definitions, name) ? this.#definitions[name] : undefined
    }
    if (!isObject(node)) return undefined
    const { properties, additionalProperties, items, type } = node
    const strategy = node['x-kubernetes-patch-strategy']
    const list = node['x-kubernetes-list-map-keys']
    const key = node['x-kubernetes-patch-merge-key']
    return {
      ...opaqueSchema,
      field: name => {
        if (isObject(properties) && Object.hasOwn(properties, name)) return this.#schemaOf(properties[name])
        return isObject(additionalProperties) ? this.#schemaOf(additionalProperties) : undefined
      },
      items: () => (type === 'array' && isObject(items) ? this.#schemaOf(items) : undefined),
      ...(typeof strategy === 'string' && {
        isMerged: strategy.split(',').includes('merge'),
        hasStrategy: true,
        keys: Array.isArray(list) ? list.map(String) : typeof key === 'string' ? [key] : [],
      }),
    }
  }
}

function kindKey(kind: Json): string {
  const group = typeof kind.group === 'string' && kind.group !== '' ? `${kind.group}/` : ''
  return `${group}${String(kind.version)} ${String(kind.kind)}`
}
