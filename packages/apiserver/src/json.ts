export type JsonObject = { [key: string]: unknown }

const encoder = new TextEncoder()
const decoder = new TextDecoder()

export function encodeText(text: string): Uint8Array {
  return encoder.encode(text)
}

export function decodeText(bytes: Uint8Array): string {
  return decoder.decode(bytes)
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The object under `key`, made when it is not there. */
export function childObject(parent: JsonObject, key: string): JsonObject {
  const child = parent[key]
  if (isObject(child)) return child
  const made: JsonObject = {}
  parent[key] = made
  return made
}

export function joinBytes(pieces: readonly Uint8Array[]): Uint8Array {
  let length = 0
  for (const piece of pieces) length += piece.length
  const joined = new Uint8Array(length)
  let at = 0
  for (const piece of pieces) {
    joined.set(piece, at)
    at += piece.length
  }
  return joined
}
