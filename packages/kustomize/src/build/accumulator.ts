import { compareCodePoints } from '@coxswain/apimachinery/go'
import type { VarArguments } from '../config/kustomization.ts'
import { emptyConfig, mergeConfig, type TransformerConfig } from '../config/transformer-config.ts'
import { buildFailed } from '../errors.ts'
import { splitBracketedPath } from '../filters/path.ts'
import { replaceVariables, Variables } from '../filters/variables.ts'
import { equalGvk, type Gvk, splitApiVersion } from '../resource/gvk.ts'
import { equalIds, type ResourceId } from '../resource/resource-id.ts'
import { ResourceMap } from '../resource/resource-map.ts'
import { type JsonValue, valueOfNode } from '../yaml/decode.ts'
import { lookup } from '../yaml/tree.ts'

/** The objects of a kustomization and its bases, with their configuration and variables. */
export class Accumulator {
  readonly map: ResourceMap = new ResourceMap()
  config: TransformerConfig = emptyConfig
  readonly #variables = new Map<string, string>()

  addConfig(config: TransformerConfig): void {
    this.config = mergeConfig(this.config, config)
  }

  addAll(other: Accumulator): void {
    this.map.appendAll(other.map.resources)
    this.addConfig(other.config)
    for (const [name, path] of other.#variables) this.#addVariable(name, path)
  }

  #addVariable(name: string, path: string): void {
    if (this.#variables.has(name)) throw buildFailed(`var '${name}' already encountered`)
    this.#variables.set(name, path)
  }

  /** Adds variables, and marks the objects that their values come from. */
  addVariables(variables: readonly VarArguments[]): void {
    for (const { name = '', objref = {} } of variables) {
      const gvk = targetGvk(objref)
      const id: ResourceId = {
        ...gvk,
        name: objref.name ?? '',
        namespace: objref.namespace ?? '',
        clusterScoped: false,
      }
      const found = this.map.withAnyId(each =>
        id.namespace === '' ? each.name === id.name && equalGvk(each, id) : equalIds(id, each),
      )
      if (found.length > 1)
        throw buildFailed(`found ${found.length} resId matches for var ${name} (unable to disambiguate)`)
      found[0]?.varNames.push(name)
    }
    for (const { name = '', fieldref } of variables)
      this.#addVariable(name, fieldref?.fieldPath || 'metadata.name')
  }

  /** Replaces variables by their values, and returns the names of those that stand nowhere. */
  resolveVariables(): string[] {
    const values = new Map<string, JsonValue>()
    for (const name of [...this.#variables.keys()].sort(compareCodePoints))
      values.set(name, this.#valueOf(name, this.#variables.get(name)!))
    if (values.size === 0) return []
    const variables = new Variables(values)
    for (const resource of this.map.resources)
      for (const spec of this.config.varReference) replaceVariables(resource.node, spec, variables)
    return [...values.keys()].filter(name => !variables.used.has(name))
  }

  #valueOf(name: string, path: string): JsonValue {
    const resource = this.map.resources.find(each => each.varNames.includes(name))
    if (resource === undefined)
      throw buildFailed(`var '${name}' cannot be mapped to a field in the set of known resources`)
    const missing = `field specified in var '${name}' not found in corresponding resource`
    let node: ReturnType<typeof lookup>
    try {
      node = lookup(resource.node, splitBracketedPath(path, '.').flatMap(splitIndex))
    } catch (error) {
      throw buildFailed(missing, error)
    }
    if (node === undefined) throw buildFailed(missing)
    return valueOfNode(node)
  }
}

function targetGvk({
  apiVersion = '',
  group = '',
  version = '',
  kind = '',
}: NonNullable<VarArguments['objref']>): Gvk {
  return apiVersion === '' ? { group, version, kind } : { group, ...withoutEmptyGroup(apiVersion), kind }
}

function withoutEmptyGroup(apiVersion: string): { group?: string; version: string } {
  const { group, version } = splitApiVersion(apiVersion)
  return group === '' ? { version } : { group, version }
}

/** `a[0]` is the field `a` and the index 0. */
function splitIndex(part: string): string[] {
  const match = /^(.*)\[(\d+)\]$/.exec(part)
  if (match === null) return [part]
  return match[1] === '' ? [match[2]!] : [match[1]!, match[2]!]
}
