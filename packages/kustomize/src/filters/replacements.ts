import { toIdSelector } from '../config/inputs.ts'
import type { FieldOptions, ReplacementArguments } from '../config/kustomization.ts'
import { buildFailed, isKustomizeError, withPrefix } from '../errors.ts'
import { printGoJson } from '../go-json.ts'
import type { Resource } from '../resource/resource.ts'
import { isSelectedBy, printId } from '../resource/resource-id.ts'
import { nodeToJson } from '../yaml/decode.ts'
import { emitNode } from '../yaml/emit.ts'
import {
  assignNode,
  copyNode,
  isEmptyNode,
  isNullNode,
  scalarNode,
  textOf,
  type YamlNode,
} from '../yaml/node.ts'
import { parseYaml } from '../yaml/parse.ts'
import { matchPath } from '../yaml/path-matcher.ts'
import { lookup } from '../yaml/tree.ts'
import { splitBracketedPath } from './path.ts'
import { ResourceSelector } from './selector.ts'
import { refuseComments } from './structured-text.ts'

type Target = NonNullable<ReplacementArguments['targets']>[number]

const defaultPath = 'metadata.name'

/** Copies the value of one field to others, one replacement after the other. */
export function applyReplacements(
  resources: readonly Resource[],
  replacements: readonly ReplacementArguments[],
): void {
  for (const replacement of replacements) {
    if (
      (replacement.sourceValue === undefined && replacement.source === undefined) ||
      replacement.targets === undefined
    )
      throw buildFailed('replacements must specify a source and at least one target')
    const value = sourceValue(resources, replacement)
    for (const target of replacement.targets) applyTarget(resources, value, target)
  }
}

function sourceValue(
  resources: readonly Resource[],
  { sourceValue: text, source }: ReplacementArguments,
): YamlNode {
  if (text !== undefined && source !== undefined)
    throw buildFailed('value and resource selectors are mutually exclusive')
  if (source === undefined) return scalarNode(text!)
  const selector = toIdSelector(source)
  const found = resources.filter(each =>
    [each.currentIdWithoutScope, ...each.previousIds].some(id => isSelectedBy(id, selector)),
  )
  const shown = printId({ ...selector, clusterScoped: false })
  if (found.length > 1) throw buildFailed(`multiple matches for selector ${shown}`)
  if (found.length === 0) throw buildFailed(`nothing selected by ${shown}`)
  const path = source.fieldPath || defaultPath
  const node = withPrefix('error looking up replacement source', () =>
    lookup(found[0]!.node, splitBracketedPath(path, '.')),
  )
  if (isEmptyNode(node)) throw buildFailed(`fieldPath \`${path}\` is missing for replacement source ${shown}`)
  return refine(node!, source.options)
}

/** One part of a text that a delimiter splits. */
function refine(node: YamlNode, options: FieldOptions | undefined): YamlNode {
  const delimiter = options?.delimiter ?? ''
  if (delimiter === '') return node
  if (node.kind !== 'scalar') throw buildFailed('delimiter option can only be used with scalar nodes')
  const parts = node.value.split(delimiter)
  const index = options?.index ?? 0
  if (index >= parts.length || index < 0)
    throw buildFailed(`options.index ${index} is out of bounds for value ${node.value}`)
  const copy = copyNode(node)
  copy.value = parts[index]!
  return copy
}

function applyTarget(resources: readonly Resource[], value: YamlNode, target: Target): void {
  if (target.select === undefined) throw buildFailed('target must specify resources to select')
  const select = new ResourceSelector(target.select)
  const reject = (target.reject ?? []).map(each => new ResourceSelector(each))
  for (const resource of resources) {
    const ids = [resource.currentIdWithoutScope, ...resource.previousIds]
    const matches = (selector: ResourceSelector) =>
      ids.some(
        id =>
          selector.matchesGvk(id) && selector.matchesName(id.name) && selector.matchesNamespace(id.namespace),
      )
    if (!select.matchesMetadata(resource)) continue
    if (reject.some(each => each.selectsByMetadata && each.matchesMetadata(resource))) continue
    if (reject.some(each => !each.selectsNoId && matches(each))) continue
    if (matches(select)) copyToTarget(resource.node, value, target)
  }
}

function copyToTarget(root: YamlNode, value: YamlNode, { fieldPaths = [], options }: Target): void {
  const create = options?.create ? value.kind : undefined
  for (const path of fieldPaths.length === 0 ? [defaultPath] : fieldPaths) {
    const parts = splitBracketedPath(path, '.')
    if (setInText(root, value, { parts, options })) continue
    const problem = `unable to find ${create === undefined ? '' : 'or create '}field "${path}" in replacement target`
    const found = withPrefix(problem, () => matchPath(root, parts, create))
    if (found === undefined || found.length === 0) throw buildFailed(problem)
    for (const node of found) setValue(node, value, options)
  }
}

function setValue(target: YamlNode, source: YamlNode, options: FieldOptions | undefined): void {
  const value = copyNode(source)
  const delimiter = options?.delimiter ?? ''
  if (delimiter !== '') {
    if (target.kind !== 'scalar') throw buildFailed('delimiter option can only be used with scalar nodes')
    const parts = target.value.split(delimiter)
    const index = options?.index ?? 0
    if (index < 0) parts.unshift(textOf(value))
    else if (index >= parts.length) parts.push(textOf(value))
    else parts[index] = textOf(value)
    value.value = parts.join(delimiter)
  }
  if (target.kind === 'scalar') target.value = value.value
  else assignNode(target, value)
}

interface TextPath {
  readonly parts: readonly string[]
  readonly options: FieldOptions | undefined
}

/** Sets a field inside a text that is YAML or JSON. False when the path does not lead into one. */
function setInText(root: YamlNode, value: YamlNode, { parts, options }: TextPath): boolean {
  try {
    for (let length = 1; length < parts.length; length++) {
      const node = tryLookup(root, parts.slice(0, length))
      if (node?.kind !== 'scalar') continue
      const document = tryParse(node.value)
      if (document === undefined) continue
      if (isNullNode(document) && node.value.trim() === '') return false
      const found = matchPath(document, parts.slice(length), options?.create ? value.kind : undefined)
      if (found === undefined || found.length === 0) return false
      for (const each of found) setValue(each, value, options)
      node.value = printText(document, node.value)
      return true
    }
    return false
  } catch (error) {
    if (isKustomizeError(error, 'BuildFailed')) return false
    throw error
  }
}

function tryLookup(root: YamlNode, path: readonly string[]): YamlNode | undefined {
  try {
    return lookup(root, path)
  } catch (error) {
    if (isKustomizeError(error, 'BuildFailed')) return undefined
    throw error
  }
}

function tryParse(text: string): YamlNode | undefined {
  try {
    return parseYaml(text)
  } catch (error) {
    if (isKustomizeError(error, 'BuildFailed')) return undefined
    throw error
  }
}

function printText(document: YamlNode, original: string): string {
  const first = original.trimStart()[0]
  if (first !== '{' && first !== '[') {
    refuseComments(original)
    return emitNode(document).trim()
  }
  const isPretty = original.includes('\n') && original.includes('  ')
  return printGoJson(nodeToJson(document), isPretty ? '  ' : '')
}
