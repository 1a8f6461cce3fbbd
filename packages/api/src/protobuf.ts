import { createProtobufCodec, type Message, type ProtobufCodec } from '@coxswain/apimachinery/protobuf'
import { findTable, tableOf } from './registry.ts'
import { kindMessage } from './table/message.ts'

const found = new Map<string, Message | undefined>()

/** Protobuf of every built-in kind of every version upstream has, with lists, options, Status and PartialObjectMetadata. */
export const builtinProtobuf: ProtobufCodec = createProtobufCodec({
  find(apiVersion, kind) {
    const key = `${apiVersion}/${kind}`
    if (found.has(key)) return found.get(key)
    const message = findMessage(apiVersion, kind)
    if (message !== undefined) found.set(key, message) // what a client makes up is not remembered
    return message
  },
})

function findMessage(apiVersion: string, kind: string): Message | undefined {
  const slash = apiVersion.indexOf('/')
  const group = slash < 0 ? '' : apiVersion.slice(0, slash)
  const own = findTable(group, apiVersion.slice(slash + 1))
  if (own === undefined) return undefined
  return kindMessage({ own, meta: tableOf('meta.k8s.io', 'v1') }, kind)
}
