import { encodeBase64 } from '@coxswain/kit'
import { mappingNode, scalarNode, tags, type YamlNode } from '../yaml/node.ts'
import { getField, setField } from '../yaml/tree.ts'

/** Characters of base64 in a line. */
const lineLength = 70

/** Text, or bytes that are not UTF-8. */
export type DataValue = string | Uint8Array

export function setConfigMapData(root: YamlNode, key: string, value: DataValue): void {
  if (typeof value === 'string') setEntry(root, 'data', { key, text: value })
  else setEntry(root, 'binaryData', { key, text: wrapBase64(value) })
}

/** Sets what is base64 already. */
export function setBinaryData(root: YamlNode, key: string, text: string): void {
  setEntry(root, 'binaryData', { key, text })
}

export function setSecretData(root: YamlNode, key: string, bytes: Uint8Array): void {
  setEntry(root, 'data', { key, text: wrapBase64(bytes) })
}

function setEntry(root: YamlNode, field: string, { key, text }: { key: string; text: string }): void {
  let map = getField(root, field)
  if (map === undefined) {
    map = mappingNode()
    setField(root, field, { value: map })
  }
  const node = scalarNode(text, tags.string)
  if (text.includes('\n')) node.style = 'literal'
  setField(map, key, { value: node })
}

/** Base64 in lines, with a break after the last one when there is more than one. */
function wrapBase64(bytes: Uint8Array): string {
  const text = encodeBase64(bytes)
  if (text.length < lineLength) return text
  let lines = ''
  for (let at = 0; at < text.length; at += lineLength) lines += `${text.slice(at, at + lineLength)}\n`
  return lines
}
