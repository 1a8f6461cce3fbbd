import type { FieldError } from '@coxswain/apimachinery/field'
import type { JsonObject, Literals } from '@coxswain/apimachinery/json'
import type { PrinterColumn, ResourceInfo, VersionInfo } from '@coxswain/apimachinery/kinds'
import type { StatusError } from '@coxswain/apimachinery/status'
import type { StrategyContext } from '@coxswain/strategies'
import type { ResourceRequestInfo } from '../request/request-info.ts'

/** A kind at one of its versions. */
export interface KindVersion {
  readonly resource: { readonly info: ResourceInfo }
  readonly version: VersionInfo
}

/** A request body as JSON, with the findings of a strict decoder. */
export interface DecodedBody {
  readonly object: JsonObject
  /** Paths of duplicate members. */
  readonly duplicates: readonly string[]
  readonly literals?: Literals | undefined
  /** Other strict decoding errors of the text. */
  readonly problems?: readonly string[]
  /** For a patched object: strict decoding errors of the patch. */
  readonly patchProblems?: readonly string[]
}

/** A body as an object of the endpoint's kind and version. */
export interface DecodedObject {
  readonly object: JsonObject
  /** Paths of unknown fields, which were removed from `object`. */
  readonly unknown: readonly string[]
}

/** How request bodies are read. */
export interface BodyConventions {
  readonly protobuf: boolean
  /** Whether duplicate JSON objects are merged; otherwise the last one counts. */
  readonly mergesRepeated: boolean
}

/** An update, as validation sees it. */
export interface ObjectChange {
  readonly old: JsonObject
  readonly subresource: string
}

/** How the `scale` of a resource is decoded, validated and printed. */
export interface ScaleConventions {
  readonly columns: readonly PrinterColumn[]
  /** The Scale of a body. Throws a 400 when it is something else. */
  readonly decode: (body: JsonObject) => JsonObject
  /** Whether negative replicas are rejected before the object itself is validated. */
  readonly rejectsNegative: boolean
}

/** How requests without a handler are answered. */
export interface RoutingConventions {
  /** Whether a path in the wrong scope (with or without a namespace) is an unknown path. */
  readonly hidesWrongScope: boolean
  /** Whether a create may have a name in its path; the name is ignored. */
  readonly ignoresCreateName: boolean
  /** For a verb that the resource does not support. */
  readonly unsupportedVerb: (endpoint: KindVersion, verb: string) => StatusError
  /** For a collection's method on a name, or the other way around. */
  readonly misplacedVerb: () => StatusError
  readonly unknownSubresource: (endpoint: KindVersion, info: ResourceRequestInfo) => StatusError
}

/**
 * What differs between built-in kinds, which have a Go type upstream, and custom resources, which
 * have a schema. Decided once, when a resource is registered.
 */
export interface ResourceConventions {
  /** Whether the kind is in the server's scheme, which custom resources are not. */
  readonly inScheme: boolean
  readonly routing: RoutingConventions
  readonly bodies: BodyConventions
  /** Media types of patches, in the order in which errors list them. */
  readonly patchTypes: readonly string[]
  /** Checks a body's kind and apiVersion and drops unknown fields; `bytes` is for error messages. Throws a 400. */
  readonly decode: (endpoint: KindVersion, body: DecodedBody, bytes: Uint8Array) => DecodedObject
  /** As `decode`, for an object that an admission webhook returned. Throws an Error with a text for the client. */
  readonly decodeAdmitted: (endpoint: KindVersion, value: JsonObject) => JsonObject
  /** Fills in the defaults of the schema or of the kind. Idempotent. */
  readonly applyDefaults: (endpoint: KindVersion, object: JsonObject) => void
  /** The object in the form of its Go type: members in order, required ones present. */
  readonly typed: (endpoint: KindVersion, object: JsonObject) => JsonObject
  /** The object of a bookmark, given its metadata. */
  readonly bookmark: (endpoint: KindVersion, object: JsonObject) => JsonObject
  /** The status of a new object with a status subresource; undefined when it has none. */
  readonly emptyStatus: (endpoint: KindVersion) => unknown
  /** The metadata after a write of the status. */
  readonly statusMetadata: (object: JsonObject, old: JsonObject) => JsonObject
  /** Whether `metadata.generation` counts changes of the spec. */
  readonly countsGenerations: boolean
  /** Whether finalizers need names with a domain. */
  readonly qualifiesFinalizers: boolean
  /** Throws a 422 when `object` has another kind or version than the endpoint. */
  readonly checkType: (endpoint: KindVersion, object: JsonObject) => void
  /** Schema errors of `object`. */
  readonly validateSchema: (
    endpoint: KindVersion,
    object: JsonObject,
    change: ObjectChange | undefined,
  ) => Iterable<FieldError>
  /** The CEL rules that `object` violates; `found` are the errors found so far. */
  readonly validateRules: (write: RulesInput, found: Iterable<FieldError>) => Iterable<FieldError>
  /** Whether objects may be stored in another version than the requested one. */
  readonly mixesVersions: boolean
  /** Drops fields of a converted object that `version` does not have. */
  readonly prune: (version: VersionInfo, object: JsonObject) => void
  /** Fills in the defaults of `version` after conversion for the store. */
  readonly completeStored: (version: VersionInfo, object: JsonObject) => void
  /** Fields that field selectors may use, in any version. */
  readonly selectableFields: readonly string[]
  /** The error for other fields. */
  readonly unknownField: (version: VersionInfo, field: string) => string
  /** Whether Tables have the columns that the version declares, rather than those of the kind's strategy. */
  readonly printsDeclaredColumns: boolean
  /** What the metadata of a list's last page has besides resourceVersion. */
  readonly lastPage: { readonly continue?: '' }
  /** Whether list items have kind and apiVersion. */
  readonly typesListItems: boolean
  /** The error for an unsupported media type; `text` is the router's message. */
  readonly mediaTypeError: (error: StatusError, text: string) => StatusError
  readonly scale: ScaleConventions
  /** The storage path of the resource upstream, for error messages. */
  readonly storageFolder: string
}

/** A write whose object is validated by the rules of its schema. */
export interface RulesInput {
  readonly context: StrategyContext
  readonly endpoint: KindVersion
  readonly object: JsonObject
  readonly old: JsonObject | undefined
}
