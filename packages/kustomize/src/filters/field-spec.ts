import { BoundedMap } from '@coxswain/kit'
import type { FieldSpec } from '../config/inputs.ts'
import { buildFailed, prefixError } from '../errors.ts'
import { splitApiVersion } from '../resource/gvk.ts'
import {
  emptyNode,
  fieldOf,
  isMissingOrNull,
  type NodeKind,
  scalarNode,
  tags,
  type YamlNode,
} from '../yaml/node.ts'
import { expectKind, getField, setField, setScalar } from '../yaml/tree.ts'
import { splitPath } from './path.ts'

/** What is done at the fields of a field spec. */
export interface FieldChange {
  readonly set: (node: YamlNode) => void
  /** What is made when the spec says so and the field is missing; without it nothing is. */
  readonly createKind?: NodeKind
  readonly createTag?: string
}

/** Applies the change to every field that the spec finds in an object. */
export function applyFieldSpec(root: YamlNode, spec: FieldSpec, change: FieldChange): void {
  if (spec.kind !== '' && spec.kind !== fieldOf(root, 'kind')?.value) return
  if (spec.group !== '' || spec.version !== '') {
    const { group, version } = splitApiVersion(fieldOf(root, 'apiVersion')?.value ?? '')
    if ((spec.group !== '' && spec.group !== group) || (spec.version !== '' && spec.version !== version))
      return
  }
  changeFields(root, spec, change)
}

/** Applies the change at the path of the spec, whatever kinds the spec is for. */
export function changeFields(root: YamlNode, spec: FieldSpec, change: FieldChange): void {
  try {
    walk(root, 0, { spec, change, path: partsOf(spec.path) })
  } catch (error) {
    const kind = fieldOf(root, 'kind')?.value
    const name = fieldOf(fieldOf(root, 'metadata'), 'name')?.value ?? ''
    throw prefixError(`considering field '${spec.path}' of object ${kind}/${name}`, error)
  }
}

const knownPaths = new BoundedMap<string, readonly string[]>(2_000)

function partsOf(path: string): readonly string[] {
  let parts = knownPaths.get(path)
  if (parts === undefined) {
    parts = splitPath(path, '/')
    knownPaths.set(path, parts)
  }
  return parts
}

export function applyFieldSpecs(root: YamlNode, specs: readonly FieldSpec[], change: FieldChange): void {
  for (const spec of specs) applyFieldSpec(root, spec, change)
}

interface Walk {
  readonly spec: FieldSpec
  readonly change: FieldChange
  readonly path: readonly string[]
}

function walk(node: YamlNode, at: number, context: Walk): void {
  if (at === context.path.length) {
    context.change.set(node)
    return
  }
  if (isMissingOrNull(node)) return
  if (node.kind === 'sequence') for (const item of node.content) walk(item, at, context)
  else if (node.kind === 'mapping') walkField(node, at, context)
  else throw buildFailed('expected sequence or mapping node')
}

function walkField(node: YamlNode, at: number, context: Walk): void {
  const { spec, change, path } = context
  const part = path[at]!
  const isList = part.endsWith('[]')
  const name = isList ? part.slice(0, -2) : part
  if (name === '') throw buildFailed('cannot set or create an empty field name')
  const mayCreate = spec.create && change.createKind !== undefined && !isList
  let field = getField(node, name.trim())
  if (field === undefined && !mayCreate) return
  const isLast = at + 1 === path.length
  const kind = !mayCreate ? (isList ? 'sequence' : undefined) : isLast ? change.createKind : 'mapping'
  field ??= setField(node, name.trim(), { value: emptyNode(kind!) })!
  if (field.tag === tags.null && kind !== undefined) {
    field.kind = kind
    field.content = []
    field.tag = !mayCreate ? '' : isLast ? (change.createTag ?? '') : tags.mapping
  }
  walk(field, at + 1, context)
}

/** Sets a scalar in place. */
export const scalarSetter =
  (value: string, tag = '') =>
  (node: YamlNode): void =>
    setScalar(node, scalarNode(value, tag))

/** Sets an entry of a mapping; all places that one setter reaches share the entry, as in the original. */
export function entrySetter(name: string, value: string): (node: YamlNode) => void {
  const entry = scalarNode(value, tags.string)
  return node => {
    expectKind(node, 'mapping')
    if (!isMissingOrNull(node)) setField(node, name, { value: entry })
  }
}
