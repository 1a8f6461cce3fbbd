/**
 * Strategic merge as kustomize does it: on the text of a document, with lists that are merged in front of the ones that are there, and
 * `$patch: delete | replace | merge` in mappings and lists.
 */
import { compareCodePoints } from '@coxswain/apimachinery/go'
import { buildFailed } from '../errors.ts'
import type { MergeSchema } from '../schema/merge-schema.ts'
import type { Schemas } from '../schema/schemas.ts'
import { mergeList } from './merge-list.ts'
import {
  fieldOf,
  isEmptyNode,
  isMissingOrNull,
  isNullNode,
  scalarNode,
  textOf,
  type YamlNode,
} from './node.ts'
import { clearField, expectKind, setField } from './tree.ts'

type Maybe = YamlNode | undefined

/** What is left after a merge; `keepNull` is a null that a patch may not remove. */
interface Merged {
  readonly node: Maybe
  readonly keepNull?: boolean
}

/** Merges a patch into a document, in place where it can. Undefined: the patch deletes the document. */
export function mergeStrategic(patch: YamlNode, target: YamlNode, schemas: Schemas): Maybe {
  return new Merger(schemas).merge(target, patch, undefined).node
}

type Directive = 'delete' | 'replace' | 'merge'

class Merger {
  readonly #schemas: Schemas

  constructor(schemas: Schemas) {
    this.#schemas = schemas
  }

  merge(target: Maybe, patch: Maybe, known: MergeSchema | undefined): Merged {
    const kind = isMissingOrNull(target)
      ? isMissingOrNull(patch)
        ? undefined
        : (patch as YamlNode).kind
      : target!.kind
    const schema = known ?? this.#schemaByKind(target) ?? this.#schemaByKind(patch)
    if (kind !== undefined) {
      expectKind(target, kind)
      expectKind(patch, kind)
    }
    switch (kind) {
      case 'scalar':
        return { node: patch ?? target }
      case 'sequence':
        if (schema?.isMerged !== true) {
          setStyle(target, patch)
          return { node: patch ?? target }
        }
        return { node: this.#mergeSequence(target, patch, schema) }
      default:
        return this.#mergeMapping(target, patch, schema)
    }
  }

  #schemaByKind(node: Maybe): MergeSchema | undefined {
    if (isMissingOrNull(node)) return undefined
    const kind = textOf(fieldOf(node, 'kind'))
    const apiVersion = textOf(fieldOf(node, 'apiVersion'))
    return kind === '' || apiVersion === '' ? undefined : this.#schemas.schema(apiVersion, kind)
  }

  #mergeSequence(target: Maybe, patch: Maybe, schema: MergeSchema): Maybe {
    setStyle(target, patch)
    const list = this.#startList(target, patch)
    if (list === undefined) return undefined
    const mergeItem = (old: Maybe, added: Maybe, known: MergeSchema | undefined): Maybe =>
      this.merge(old, added, known).node
    return mergeList({ list, patch, schema, mergeItem })
  }

  #startList(target: Maybe, patch: Maybe): Maybe {
    if (isMissingOrNull(target)) return patch
    if (isNullNode(patch)) return undefined
    switch (directiveOf(patch)) {
      case 'delete':
        return undefined
      case 'replace':
        return patch
      default:
        return target
    }
  }

  #mergeMapping(target: Maybe, patch: Maybe, schema: MergeSchema | undefined): Merged {
    setStyle(target, patch)
    const start = startMapping(target, patch)
    if (start.node === undefined || start.keepNull) return start
    const result = start.node
    const names = new Set<string>()
    for (const source of [result, patch]) {
      if (isMissingOrNull(source) || source!.kind !== 'mapping') continue
      for (let at = 0; at < source!.content.length; at += 2) names.add(source!.content[at]!.value)
    }
    for (const name of [...names].sort(compareCodePoints)) {
      const merged = this.merge(fieldOf(result, name), fieldOf(patch, name), schema?.field(name))
      setField(result, name, { value: merged.node, ...(merged.keepNull && { keepNull: true }) })
    }
    return { node: result }
  }
}

function startMapping(target: Maybe, patch: Maybe): Merged {
  if (isMissingOrNull(target)) {
    if (patch !== undefined && patch.kind !== 'scalar' && directiveOf(patch) === 'delete')
      return { node: undefined }
    const nullText = patch === undefined ? (target as YamlNode | undefined)?.value : undefined
    if (nullText) return { node: scalarNode(nullText, '!!null'), keepNull: true }
    return { node: patch }
  }
  if (isNullNode(patch)) return { node: undefined }
  switch (directiveOf(patch)) {
    case 'delete':
      return { node: undefined }
    case 'replace':
      return { node: patch }
    default:
      return { node: target }
  }
}

/** An empty collection takes the style of its patch. */
function setStyle(target: Maybe, patch: Maybe): void {
  if (target === undefined || patch === undefined) return
  if (target.kind !== 'scalar' && target.content.length === 0) target.style = patch.style
}

/** What `$patch` says; it is removed from the patch. */
function directiveOf(patch: Maybe): Directive {
  if (patch === undefined) return 'merge'
  if (patch.kind === 'mapping') {
    const value = fieldOf(patch, '$patch')
    if (value === undefined || isNullNode(patch)) return 'merge'
    const directive = readDirective(value.value)
    clearField(patch, '$patch')
    return directive
  }
  if (patch.kind !== 'sequence')
    throw buildFailed(`no implemented strategic merge patch strategy for '${patch.tag}' ('${patch.value}')`)
  const item = patch.content.find(each => !isNullNode(each) && fieldOf(each, '$patch') !== undefined)
  if (item === undefined || item.content.length > 2) return 'merge'
  const text = fieldOf(item, '$patch')!.value
  const directive = readDirective(text)
  patch.content = patch.content.filter(
    each => !isEmptyMapping(each) && !(each.kind === 'mapping' && fieldOf(each, '$patch')?.value === text),
  )
  return directive
}

const isEmptyMapping = (node: YamlNode): boolean => isEmptyNode(node) && node.kind !== 'sequence'

function readDirective(text: string): Directive {
  if (text === 'delete' || text === 'replace' || text === 'merge') return text
  throw buildFailed(`unknown patch strategy '${text}'`)
}
