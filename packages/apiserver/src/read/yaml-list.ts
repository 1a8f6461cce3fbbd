import type { JsonObject } from '@coxswain/apimachinery/json'
import { writeYaml } from '@coxswain/apimachinery/yaml'
import { encodeText } from '@coxswain/kit'

/** The pieces of the YAML of `head` with `items` under `key`: the same text as for the whole, whose keys are sorted. */
export function* yamlPieces(
  head: JsonObject,
  key: string,
  items: Iterable<JsonObject>,
): Generator<Uint8Array, void, undefined> {
  const members = Object.entries(head)
  yield yamlOf(members.filter(([name]) => name < key))
  let isEmpty = true
  for (const item of items) {
    if (isEmpty) yield encodeText(`${key}:\n`)
    isEmpty = false
    yield encodeText(writeYaml([item], { sorted: true }))
  }
  if (isEmpty) yield encodeText(`${key}: []\n`)
  yield yamlOf(members.filter(([name]) => name > key))
}

function yamlOf(members: [string, unknown][]): Uint8Array {
  return encodeText(members.length > 0 ? writeYaml(Object.fromEntries(members), { sorted: true }) : '')
}
