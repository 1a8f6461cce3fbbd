import { encodeHex, encodeText, sha256 } from '@coxswain/kit'
import { printGoJson } from './go-json.ts'
import { type JsonObject, type JsonValue, nodeToJson } from './yaml/decode.ts'
import { fieldOf, isMissingOrNull, type YamlNode } from './yaml/node.ts'

const letters: Readonly<Record<string, string>> = { 0: 'g', 1: 'h', 3: 'k', a: 'm', e: 't' }

/** The suffix that kustomize adds to the name of a generated object. */
export function hashResource(node: YamlNode): string {
  const hex = encodeHex(sha256(encodeText(printGoJson(hashedPart(node)))))
  return hex.slice(0, 10).replace(/[013ae]/g, digit => letters[digit]!)
}

function hashedPart(node: YamlNode): JsonValue {
  const kind = fieldOf(node, 'kind')?.value
  const part: JsonObject = { kind: kind ?? '', name: '', data: valueAt(node, 'data') }
  if (kind === 'ConfigMap') {
    if (fieldOf(node, 'binaryData')?.kind === 'mapping') part.binaryData = valueAt(node, 'binaryData')
    return part
  }
  if (kind === 'Secret') {
    part.type = valueAt(node, 'type')
    if (fieldOf(node, 'stringData')?.kind === 'mapping') part.stringData = valueAt(node, 'stringData')
    return part
  }
  return nodeToJson(node)
}

function valueAt(node: YamlNode, field: string): JsonValue {
  const value = fieldOf(node, field)
  if (value === undefined) return ''
  if (value.kind === 'scalar') return isMissingOrNull(value) ? (value as YamlNode).value : value.value
  return value.kind === 'mapping' ? nodeToJson(value) : null
}
