import type { FieldSpec } from '../config/inputs.ts'
import type { ImageArguments } from '../config/kustomization.ts'
import { tryRegex } from '../regex.ts'
import { fieldOf, scalarNode, type YamlNode } from '../yaml/node.ts'
import { expectKind, getField, setScalar } from '../yaml/tree.ts'
import { applyFieldSpecs } from './field-spec.ts'

const reference = '(:[a-zA-Z0-9_.{}-]*)?(@[a-zA-Z0-9]+([.+_-][a-zA-Z0-9]+)*:[a-zA-Z0-9_.{}-]*)?$'

/** Changes the image of every container of an object, and at the fields of the specs. */
export function imageChanger(image: ImageArguments, specs: readonly FieldSpec[]): (root: YamlNode) => void {
  const regex = tryRegex(`^${image.name ?? ''}${reference}`)
  const set = (node: YamlNode): void => {
    expectKind(node, 'scalar')
    if (typeof regex === 'string' || !regex.test(node.value)) return
    setScalar(node, scalarNode(newImage(node.value, image)))
  }
  return root => {
    if (fieldOf(root, 'kind')?.value === 'CustomResourceDefinition') return
    changeContainers(root, set)
    applyFieldSpecs(root, specs, { set })
  }
}

function changeContainers(node: YamlNode, change: (node: YamlNode) => void): void {
  if (node.kind === 'sequence') for (const item of node.content) changeContainers(item, change)
  if (node.kind !== 'mapping') return
  for (let at = 0; at + 1 < node.content.length; at += 2) {
    const value = node.content[at + 1]!
    changeContainers(value, change)
    const key = node.content[at]!.value
    if ((key !== 'containers' && key !== 'initContainers') || value.kind !== 'sequence') continue
    for (const container of value.content) {
      const found = getField(container, 'image')
      if (found !== undefined) change(found)
    }
  }
}

function newImage(
  old: string,
  { newName = '', newTag = '', digest = '', tagSuffix = '' }: ImageArguments,
): string {
  const parts = splitImage(old)
  let name = newName === '' ? parts.name : newName
  let { tag } = parts
  let newDigest = parts.digest
  if (newTag !== '') {
    tag = newTag
    newDigest = digest
  } else if (digest !== '') {
    tag = ''
    newDigest = digest
  } else if (tagSuffix !== '') {
    tag += tagSuffix
    newDigest = ''
  }
  if (tag !== '') name += `:${tag}`
  return newDigest === '' ? name : `${name}@${newDigest}`
}

function splitImage(image: string): { name: string; tag: string; digest: string } {
  const slash = Math.max(image.indexOf('/'), 0)
  const at = image.indexOf('@', slash)
  const colon = image.indexOf(':', slash)
  if (at < 0 && colon < 0) return { name: image, tag: '', digest: '' }
  if (at >= 0 && (at < colon || colon < 0))
    return { name: image.slice(0, at), tag: '', digest: image.slice(at + 1) }
  const name = image.slice(0, colon)
  if (at < 0) return { name, tag: image.slice(colon + 1), digest: '' }
  return { name, tag: image.slice(colon + 1, at), digest: image.slice(at + 1) }
}
