import { isObject } from '@coxswain/apimachinery/json'
import { readYaml } from '@coxswain/apimachinery/yaml'
import { emitNode } from '../yaml/emit.ts'
import { mappingNode, scalarNode, sequenceNode, tags, type YamlNode } from '../yaml/node.ts'
import { needsQuotes } from '../yaml/resolve.ts'
import { originAnnotation, transformationsAnnotation } from './annotations.ts'
import type { Resource } from './resource.ts'

/** Where an object, or a change of it, comes from. */
export interface Origin {
  readonly path?: string
  readonly configuredIn?: string
  readonly configuredBy?: {
    readonly apiVersion?: string
    readonly kind?: string
    readonly name?: string
    readonly namespace?: string
  }
}

/** The annotation of an object; undefined when it has none. */
export function getOrigin(resource: Resource): Origin | undefined {
  const text = resource.annotation(originAnnotation)
  return text === undefined ? undefined : toOrigin(readYaml(text)?.value)
}

function toOrigin(value: unknown): Origin {
  return isObject(value) ? (value as Origin) : {}
}

export function setOrigin(resource: Resource, origin: Origin | undefined): void {
  const { annotations } = resource
  if (origin === undefined) annotations.delete(originAnnotation)
  else annotations.set(originAnnotation, printOrigin(origin))
  resource.annotations = annotations
}

export function addTransformation(resource: Resource, origin: Origin): void {
  const { annotations } = resource
  const known = readYaml(annotations.get(transformationsAnnotation) ?? '')?.value
  const list = sequenceNode()
  for (const each of [...(Array.isArray(known) ? known.map(toOrigin) : []), origin])
    list.content.push(originNode(each))
  annotations.set(transformationsAnnotation, emitNode(list))
  resource.annotations = annotations
}

export function clearTransformations(resource: Resource): void {
  const { annotations } = resource
  annotations.delete(transformationsAnnotation)
  resource.annotations = annotations
}

export const printOrigin = (origin: Origin): string => emitNode(originNode(origin))

function originNode({ path, configuredIn, configuredBy = {} }: Origin): YamlNode {
  const node = mappingNode()
  addText(node, 'path', path)
  addText(node, 'configuredIn', configuredIn)
  const by = mappingNode()
  for (const field of ['apiVersion', 'kind', 'name', 'namespace'] as const)
    addText(by, field, configuredBy[field])
  if (by.content.length > 0) node.content.push(scalarNode('configuredBy', tags.string), by)
  return node
}

function addText(node: YamlNode, name: string, value: string | undefined): void {
  if (value === undefined || value === '') return
  const text = scalarNode(value, tags.string)
  if (needsQuotes(value)) text.style = 'double'
  node.content.push(scalarNode(name, tags.string), text)
}
