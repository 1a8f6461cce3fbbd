import { concatBytes, encodeText } from '@coxswain/kit'
import { BackwardWriter, ProtobufReader } from '@coxswain/kit/protobuf'
import { MachineryError } from '../errors.ts'
import { decodeMessage } from './decode.ts'
import { encodeMessage } from './encode.ts'
import { malformed } from './malformed.ts'
import { hasMagic, type Message, type MessageSource, magic } from './message.ts'

/** The content types of protobuf, for one object and for a watch. */
export const protobufMediaType = 'application/vnd.kubernetes.protobuf'

/** The default kind of an object whose envelope has none. */
export interface DefaultKind {
  readonly apiVersion: string
  readonly kind: string
}

/** A watch event with its object. */
export interface WatchEventObject {
  readonly type: string
  readonly object: unknown
}

/** A list without its items. */
export interface ListHead extends DefaultKind {
  readonly metadata: object
}

/** Encodes a list item by item. */
export interface ListEncoder {
  /** The encoding of one item inside the list. */
  item(value: unknown): Uint8Array
  /** What precedes and follows the items, which have `length` bytes in total. */
  frame(length: number): { readonly begin: Uint8Array; readonly end: Uint8Array }
}

/** Between the JSON form of objects and `application/vnd.kubernetes.protobuf`. Errors carry `BadProtobuf`. */
export interface ProtobufCodec {
  /** Whether objects of this kind have a protobuf form: custom resources do not. */
  supports(apiVersion: string, kind: string): boolean
  /** An object with apiVersion and kind as enveloped protobuf. */
  encode(object: unknown): Uint8Array<ArrayBuffer>
  /** An enveloped object. What the envelope omits is taken from `defaults`. */
  decode(bytes: Uint8Array, defaults?: DefaultKind): Record<string, unknown>
  /** How a list is encoded item by item: the same bytes as {@link encode} of the whole. */
  listEncoder(list: ListHead): ListEncoder
  /** A watch event with its enveloped object, without its length prefix. */
  encodeWatchEvent(event: WatchEventObject): Uint8Array<ArrayBuffer>
  /** A watch event without its length prefix. */
  decodeWatchEvent(bytes: Uint8Array): { type: string; object: unknown }
}

const text = (json: string, number: number): Message['fields'][number] => ({
  json,
  number,
  type: { form: 'scalar', scalar: 'string', pointer: false },
  omit: 'never',
})
const typeMeta: Message = { name: 'TypeMeta', fields: [text('apiVersion', 1), text('kind', 2)] }
/** Creates a codec for the kinds of `source`. */
export function createProtobufCodec(source: MessageSource): ProtobufCodec {
  const find = (apiVersion: string, kind: string): Message => {
    const message = source.find(apiVersion, kind)
    if (message !== undefined) return message
    throw new MachineryError('BadProtobuf', `no kind ${JSON.stringify(kind)} of ${apiVersion} in protobuf`)
  }

  const codec: ProtobufCodec = {
    supports: (apiVersion, kind) => source.find(apiVersion, kind) !== undefined,

    encode(object) {
      const { apiVersion, kind } = kindOf(object)
      return wrap({ apiVersion, kind }, encodeMessage(find(apiVersion, kind), object))
    },

    listEncoder(list) {
      const message = find(list.apiVersion, list.kind)
      const items = message.fields.filter(({ json }) => json === 'items')
      const raw = encodeMessage(message, list)
      return {
        item: value => encodeMessage({ ...message, fields: items }, { items: [value] }),
        frame(length) {
          const writer = new BackwardWriter()
          writer.bytes(raw)
          writer.varint(raw.length + length)
          writer.tag(2, 2)
          return { begin: concatBytes([magic, headOf(list), writer.finish()]), end: envelopeEnd }
        },
      }
    },

    decode(bytes, defaults) {
      const envelope = unwrap(bytes)
      const apiVersion = envelope.apiVersion || defaults?.apiVersion || ''
      const kind = envelope.kind || defaults?.kind || ''
      const object = decodeMessage(find(apiVersion, kind), envelope.raw, inner => codec.decode(inner))
      return { apiVersion, kind, ...object }
    },

    encodeWatchEvent(event) {
      const object = codec.encode(event.object)
      return concatBytes([
        lengthPrefixed(1, encodeText(event.type)),
        lengthPrefixed(2, lengthPrefixed(1, object)),
      ])
    },

    decodeWatchEvent(bytes) {
      const event = decodeMessage(watchEvent, bytes, inner => codec.decode(inner))
      return { type: String(event.type), object: event.object }
    },
  }
  return codec
}

const watchEvent: Message = {
  name: 'WatchEvent',
  fields: [
    text('type', 1),
    { json: 'object', number: 2, type: { form: 'known', known: 'raw', pointer: false }, omit: 'never' },
  ],
}

function kindOf(object: unknown): DefaultKind {
  const { apiVersion, kind } = (object ?? {}) as Record<string, unknown>
  if (typeof apiVersion === 'string' && typeof kind === 'string') return { apiVersion, kind }
  throw new MachineryError('BadProtobuf', 'an object without apiVersion and kind has no protobuf form')
}

/** contentEncoding and contentType, empty. */
const envelopeEnd: Uint8Array = Uint8Array.of(0x1a, 0x00, 0x22, 0x00)

function headOf({ apiVersion, kind }: DefaultKind): Uint8Array {
  return lengthPrefixed(1, encodeMessage(typeMeta, { apiVersion, kind }))
}

function wrap(head: DefaultKind, raw: Uint8Array): Uint8Array<ArrayBuffer> {
  return concatBytes([magic, headOf(head), lengthPrefixed(2, raw), envelopeEnd])
}

function unwrap(bytes: Uint8Array): DefaultKind & { raw: Uint8Array } {
  if (!hasMagic(bytes)) {
    throw new MachineryError(
      'BadProtobuf',
      'provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]',
    )
  }
  return readEnvelope(bytes.subarray(4))
}

function readEnvelope(bytes: Uint8Array): DefaultKind & { raw: Uint8Array } {
  const reader = new ProtobufReader(bytes, malformed)
  let head: Record<string, unknown> = {}
  let raw: Uint8Array = new Uint8Array(0)
  while (!reader.done) {
    const tag = reader.varint()
    if (tag === 10) head = decodeMessage(typeMeta, reader.bytes(), () => null)
    else if (tag === 18) raw = reader.bytes()
    else reader.skip(tag % 8)
  }
  return { apiVersion: String(head.apiVersion ?? ''), kind: String(head.kind ?? ''), raw }
}

function lengthPrefixed(number: number, bytes: Uint8Array): Uint8Array {
  const writer = new BackwardWriter()
  writer.bytes(bytes)
  writer.varint(bytes.length)
  writer.tag(number, 2)
  return writer.finish()
}
