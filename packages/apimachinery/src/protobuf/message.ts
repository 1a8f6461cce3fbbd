/**
 * A type as the codec sees it: its protobuf fields, each with its name in JSON. Upstream's types are Go
 * structs, so the rules are Go's: a value field is always on the wire, a pointer only when it is set; JSON omits
 * empty values where the tag says so, but never a struct.
 */
export interface Message {
  /** For errors: `io.k8s.api.core.v1.Container`. */
  readonly name: string
  /** In ascending order of their numbers. */
  readonly fields: readonly MessageField[]
}

/** One field of a message. */
export interface MessageField {
  /** Empty for an embedded struct: protobuf nests it, JSON has its fields in the parent. */
  readonly json: string
  readonly number: number
  readonly type: FieldType
  /** Whether JSON keeps it when it is empty; `zero` also leaves out a zero struct. */
  readonly omit: 'never' | 'empty' | 'zero'
}

/** A scalar type of protobuf. */
export type ScalarType = 'string' | 'bool' | 'int32' | 'int64' | 'float64' | 'bytes'
/** Types with a JSON form of their own. */
export type WellKnownType =
  | 'time'
  | 'microtime'
  | 'quantity'
  | 'intstr'
  /** An object of any kind, as its JSON or its enveloped protobuf. */
  | 'raw'
  /** JSON text in `raw = 1`. */
  | 'json'
  | 'schemaOrArray'
  | 'schemaOrBool'
  | 'schemaOrStringArray'

/** The type of a list item or map value. */
export type ElementType =
  | { readonly form: 'scalar'; readonly scalar: ScalarType; readonly pointer: boolean }
  | {
      readonly form: 'known'
      readonly known: WellKnownType
      readonly pointer: boolean
      /** The message of a schema, for the three `schemaOr...`. */
      readonly message?: () => Message
    }
  | { readonly form: 'message'; readonly message: () => Message; readonly pointer: boolean }
  /** A list that is a message itself, `repeated items = 1`: the value of a map. */
  | { readonly form: 'wrapped'; readonly element: ElementType }

/** The type of a field. */
export type FieldType =
  | ElementType
  | { readonly form: 'list'; readonly element: ElementType }
  /** Keys are strings. */
  | { readonly form: 'map'; readonly element: ElementType }

/** Where the codec finds the message of a kind. */
export interface MessageSource {
  find(apiVersion: string, kind: string): Message | undefined
}

/** Deeper messages are rejected: the sender must not control the recursion. */
export const maxDepth = 1_000

export const magic: Uint8Array = Uint8Array.of(0x6b, 0x38, 0x73, 0x00)

/** Whether `bytes` have the prefix of an enveloped object. */
export function hasMagic(bytes: Uint8Array): boolean {
  return bytes.length >= 4 && magic.every((byte, i) => bytes[i] === byte)
}
