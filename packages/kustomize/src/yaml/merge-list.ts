import { buildFailed } from '../errors.ts'
import type { MergeSchema } from '../schema/merge-schema.ts'
import { fieldOf, isEmptyNode, isMissingOrNull, scalarNode, sequenceNode, type YamlNode } from './node.ts'
import { findElement, getField, setField } from './tree.ts'

interface ListMerge {
  /** The list that is changed. */
  readonly list: YamlNode
  readonly patch: YamlNode | undefined
  readonly schema: MergeSchema
  /** Merges two items. */
  readonly mergeItem: (
    target: YamlNode | undefined,
    patch: YamlNode | undefined,
    schema: MergeSchema | undefined,
  ) => YamlNode | undefined
}

/** Merges lists whose items have keys, or that are sets of scalars. Items of the patch come first. */
export function mergeList(input: ListMerge): YamlNode | undefined {
  const { schema } = input
  const keys = !schema.hasStrategy && schema.keys.length === 0 ? inferKeys(input) : schema.keys
  const values = keys.length > 0 ? keyValues(input, keys) : []
  return keys.length > 0 ? mergeItems(input, keys, values) : mergeItems(input, [''], scalarValues(input))
}

function inferKeys({ list, patch }: ListMerge): readonly string[] {
  for (const source of [list, patch]) {
    if (source?.content.every(item => fieldOf(item, 'name') !== undefined)) return ['name']
  }
  throw buildFailed('no merge key found for a list of the patch')
}

/** The patch first, then what is there. */
const sourcesOf = ({ list, patch }: ListMerge): (YamlNode | undefined)[] => [patch, list]

function keyValues(input: ListMerge, keys: readonly string[]): string[][] {
  const seen = new Set<string>()
  const result: string[][] = []
  for (const source of sourcesOf(input)) {
    if (isMissingOrNull(source)) continue
    for (const item of source!.content) {
      const values = keys.map(key => {
        const field = fieldOf(item, key)
        return isEmptyNode(field) ? '' : field!.value
      })
      const id = JSON.stringify(values)
      if (seen.has(id)) continue
      seen.add(id)
      result.push(values)
    }
  }
  return result
}

function scalarValues(input: ListMerge): string[][] {
  const seen = new Set<string>()
  for (const source of sourcesOf(input)) for (const item of source?.content ?? []) seen.add(item.value)
  return [...seen].map(value => [value])
}

function mergeItems(input: ListMerge, keys: readonly string[], list: string[][]): YamlNode | undefined {
  const { mergeItem, schema } = input
  const items = sequenceNode()
  const itemSchema = schema.items()
  const all = keys.length > 1 ? alignValues(list) : list
  const presentKeys = keys.map((_, at) => all.some(values => values[at] !== ''))
  let validKeys: readonly string[] = []
  for (const values of all) {
    const valid = validate(presentKeys, { keys, values })
    validKeys = valid.keys
    const merged = mergeItem(
      findItem(input.list, valid.keys, valid.values),
      findItem(input.patch, valid.keys, valid.values),
      itemSchema,
    )
    if (isMissingOrNull(merged) || isEmptyMap(merged)) {
      setElement(input.list, { keys: valid.keys, values: valid.values })
      continue
    }
    for (const [at, key] of valid.keys.entries()) {
      const value = valid.values[at]!
      if (fieldOf(merged, key) === undefined && value !== '' && merged!.kind === 'mapping')
        setField(merged!, key, { value: scalarNode(value) })
    }
    setElement(items, { keys: valid.keys, values: valid.values, element: merged! })
  }
  if (all.length === 0) return input.list
  return appendList(items, input.list, validKeys)
}

const isEmptyMap = (node: YamlNode | undefined): boolean =>
  isMissingOrNull(node) || (node!.kind === 'mapping' && node!.content.length === 0)

function findItem(
  list: YamlNode | undefined,
  keys: readonly string[],
  values: readonly string[],
): YamlNode | undefined {
  if (list === undefined || list.kind !== 'sequence') return undefined
  const present = keys.map((_, at) => values[at] !== '')
  const valid = validate(present, { keys, values })
  if (valid.keys.length !== valid.values.length && valid.keys[0] !== '') return undefined
  return findElement(list, valid.keys, valid.values)
}

/** Leaves out keys that no item has, unless that leaves none. */
function validate(
  present: readonly boolean[],
  { keys, values }: { keys: readonly string[]; values: readonly string[] },
): { keys: readonly string[]; values: readonly string[] } {
  if (!present.some(Boolean)) return { keys, values }
  return {
    keys: keys.filter((_, at) => present[at]),
    values: values.filter((value, at) => value !== '' || present[at]),
  }
}

/** Items that agree in one key and do not contradict each other in the others are the same item. */
function alignValues(list: readonly string[][]): string[][] {
  const result = [...list]
  for (let i = 0; i < result.length; i++) {
    const first = result[i]!
    for (let j = 0; j < result.length; j++) {
      const joined = joinValues(first, result[j]!)
      if (joined === undefined) continue
      result[i] = joined
      result[j] = joined
    }
  }
  return result
}

function joinValues(a: readonly string[], b: readonly string[]): string[] | undefined {
  let agree = false
  const joined: string[] = []
  for (const [at, value] of a.entries()) {
    if (value === b[at]) {
      agree = true
      joined.push(value)
    } else if (value !== '' && b[at] !== '') return undefined
    else joined.push(value === '' ? b[at]! : value)
  }
  return agree ? joined : undefined
}

interface ElementSetting {
  readonly keys: readonly string[]
  readonly values: readonly string[]
  /** Without one, matching items are removed. */
  readonly element?: YamlNode
}

/** Replaces the items that match, or adds the element. Empty items are dropped. */
function setElement(list: YamlNode, { keys, values, element }: ElementSetting): void {
  const content: YamlNode[] = []
  let found = false
  const isMappingSetter = (keys[0] ?? '') !== '' && (values[0] ?? '') !== ''
  for (const item of list.content) {
    if (isEmptyMap(item)) continue
    if (item.kind !== 'mapping' && isMappingSetter) {
      content.push(item)
      continue
    }
    if (!matchesElement(item, keys, values)) {
      if (values.length > 0) content.push(item)
      continue
    }
    found = true
    if (element !== undefined) content.push(element)
  }
  list.content = content
  if (element !== undefined && !isMissingOrNull(element) && !found) list.content.push(element)
}

function matchesElement(item: YamlNode, keys: readonly string[], values: readonly string[]): boolean {
  let matched = false
  for (const [at, key] of keys.entries()) {
    if (at < values.length) {
      const value = values[at]!
      if (key === '') matched = item.kind === 'scalar' && item.value === value
      else {
        const field = getField(item, key)
        matched = field !== undefined && (value === '' || field.value === value)
      }
    }
    if (!matched) return false
  }
  return matched
}

/** Adds the items of a list to another, or puts them in the place of the ones with the same keys. */
function appendList(target: YamlNode, source: YamlNode, keys: readonly string[]): YamlNode {
  for (const element of source.content) {
    if (keys[0] === '') {
      setElement(target, { keys: [''], values: [element.value], element })
      continue
    }
    const values: string[] = []
    for (const key of keys) {
      const value = getField(element, key)
      if (value === undefined) target.content.push(element)
      else values.push(value.value)
    }
    if (keys.length > 1) setElement(target, { keys, values })
    setElement(target, { keys, values, element })
  }
  return target
}
