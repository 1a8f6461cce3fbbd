import type { FieldSpec } from '../config/inputs.ts'
import { buildFailed, withPrefix } from '../errors.ts'
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
  const name = fieldOf(fieldOf(root, 'metadata'), 'name')?.value ?? ''
  withPrefix(`considering field '${spec.path}' of object ${fieldOf(root, 'kind')?.value}/${name}`, () =>
    walk(root, splitPath(spec.path, '/'), { spec, change }),
  )
}

export function applyFieldSpecs(root: YamlNode, specs: readonly FieldSpec[], change: FieldChange): void {
  for (const spec of specs) applyFieldSpec(root, spec, change)
}

interface Walk {
  readonly spec: FieldSpec
  readonly change: FieldChange
}

function walk(node: YamlNode, path: readonly string[], context: Walk): void {
  if (path.length === 0) {
    context.change.set(node)
    return
  }
  if (isMissingOrNull(node)) return
  if (node.kind === 'sequence') for (const item of node.content) walk(item, path, context)
  else if (node.kind === 'mapping') walkField(node, path, context)
  else throw buildFailed('expected sequence or mapping node')
}

function walkField(node: YamlNode, path: readonly string[], context: Walk): void {
  const { spec, change } = context
  const isList = path[0]!.endsWith('[]')
  const name = isList ? path[0]!.slice(0, -2) : path[0]!
  if (name === '') throw buildFailed('cannot set or create an empty field name')
  const mayCreate = spec.create && change.createKind !== undefined && !isList
  const isLast = path.length <= 1
  const kind = !mayCreate ? (isList ? 'sequence' : undefined) : isLast ? change.createKind : 'mapping'
  const tag = !mayCreate ? '' : isLast ? (change.createTag ?? '') : tags.mapping
  let field = getField(node, name.trim())
  if (field === undefined) {
    if (!mayCreate) return
    field = setField(node, name.trim(), { value: emptyNode(kind!) })!
  }
  if (field.tag === tags.null && kind !== undefined) {
    field.kind = kind
    field.tag = tag
  }
  walk(field, path.slice(1), context)
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
