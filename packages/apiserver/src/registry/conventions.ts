import type { FieldError } from '@coxswain/apimachinery/field'
import type { JsonObject, Literals } from '@coxswain/apimachinery/json'
import type { PrinterColumn, ResourceInfo, VersionInfo } from '@coxswain/apimachinery/kinds'
import type { StatusError } from '@coxswain/apimachinery/status'
import type { StrategyContext } from '@coxswain/strategies'
import type { ResourceRequestInfo } from '../request/request-info.ts'

/** A kind at one of its versions; an endpoint is one. */
export interface KindVersion {
  readonly resource: { readonly info: ResourceInfo }
  readonly version: VersionInfo
}

/** A request body as JSON, with what a strict reader has to say about it. */
export interface DecodedBody {
  readonly object: JsonObject
  /** Paths of members that stand there twice. */
  readonly duplicates: readonly string[]
  readonly literals?: Literals | undefined
  /** What strict decoding has against the text besides. */
  readonly problems?: readonly string[]
  /** Of an object that a patch has made: what strict decoding has against the patch. */
  readonly patchProblems?: readonly string[]
}

/** A body as an object of the endpoint's kind and version. */
export interface DecodedObject {
  readonly object: JsonObject
  /** Paths of fields that the kind does not have; they are no longer in `object`. */
  readonly unknown: readonly string[]
}

/** How request bodies are read. */
export interface BodyConventions {
  readonly protobuf: boolean
  /** Whether the members of a JSON object that stands there twice are merged; otherwise the last one counts. */
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
  /** Whether a negative number of replicas is rejected before the object itself is validated. */
  readonly rejectsNegative: boolean
}

/** How requests are answered that no handler serves. */
export interface RoutingConventions {
  /** Whether a path in the wrong scope (with or without a namespace) is an unknown page. */
  readonly hidesWrongScope: boolean
  /** Whether a create may name its object in the path; the name is ignored. */
  readonly ignoresCreateName: boolean
  /** For a verb that the resource does not have. */
  readonly unsupportedVerb: (endpoint: KindVersion, verb: string) => StatusError
  /** For a method that goes with a collection on a name, or the other way around. */
  readonly misplacedVerb: () => StatusError
  readonly unknownSubresource: (endpoint: KindVersion, info: ResourceRequestInfo) => StatusError
}

/**
 * What differs between the kinds of Kubernetes, which have a Go type upstream, and those of CustomResourceDefinitions, which
 * have a schema. Decided once, when a resource is registered; everything else asks no further.
 */
export interface ResourceConventions {
  /** Whether the kind is in the server's scheme, which CRDs are not. */
  readonly inScheme: boolean
  readonly routing: RoutingConventions
  readonly bodies: BodyConventions
  /** Media types of patches, in the order in which errors list them. */
  readonly patchTypes: readonly string[]
  /** Checks what a body says it is and drops what the kind does not know; `bytes` is for messages. Throws a 400. */
  readonly decode: (endpoint: KindVersion, body: DecodedBody, bytes: Uint8Array) => DecodedObject
  /** As `decode`, for what an admission webhook made of an object. Throws an Error with a text for the client. */
  readonly decodeAdmitted: (endpoint: KindVersion, value: JsonObject) => JsonObject
  /** Fills in the defaults of the schema or of the kind. Changes nothing the second time. */
  readonly applyDefaults: (endpoint: KindVersion, object: JsonObject) => void
  /** The object as its Go type has it: members in order, required ones present. */
  readonly typed: (endpoint: KindVersion, object: JsonObject) => JsonObject
  /** The object of a bookmark, given its metadata. */
  readonly bookmark: (endpoint: KindVersion, object: JsonObject) => JsonObject
  /** The status of a new object whose status is a subresource; undefined when it has none. */
  readonly emptyStatus: (endpoint: KindVersion) => unknown
  /** The metadata after a write of the status. */
  readonly statusMetadata: (object: JsonObject, old: JsonObject) => JsonObject
  /** Whether `metadata.generation` counts changes of the spec. */
  readonly countsGenerations: boolean
  /** Whether finalizers need names with a domain. */
  readonly qualifiesFinalizers: boolean
  /** Throws a 422 when `object` is of another kind or version than the endpoint. */
  readonly checkType: (endpoint: KindVersion, object: JsonObject) => void
  /** What is wrong with `object` by its schema. */
  readonly validateSchema: (
    endpoint: KindVersion,
    object: JsonObject,
    change: ObjectChange | undefined,
  ) => Iterable<FieldError>
  /** What the rules (CEL) of its schema have against `object`; `found` is what is wrong with it already. */
  readonly validateRules: (write: RulesInput, found: Iterable<FieldError>) => Iterable<FieldError>
  /** Whether objects may be stored in a version other than the one that is asked for. */
  readonly mixesVersions: boolean
  /** Drops what `version` does not know of an object that was converted to it. */
  readonly prune: (version: VersionInfo, object: JsonObject) => void
  /** Fills in what `version` defaults of an object that was converted to it for the store. */
  readonly completeStored: (version: VersionInfo, object: JsonObject) => void
  /** Fields that selectors may name, in any version. */
  readonly selectableFields: readonly string[]
  /** What a selector is told that names another field. */
  readonly unknownField: (version: VersionInfo, field: string) => string
  /** Whether tables are made of the columns that the version declares, rather than of the kind's own cells. */
  readonly printsDeclaredColumns: boolean
  /** What the metadata of a list's last page has besides its version. */
  readonly lastPage: { readonly continue?: '' }
  /** Whether the items of a list say what they are. */
  readonly typesListItems: boolean
  /** The answer to a media type that is not served; `text` is what the router says of it. */
  readonly mediaTypeError: (error: StatusError, text: string) => StatusError
  readonly scale: ScaleConventions
  /** The folder of upstream's store that error messages name. */
  readonly storageFolder: string
}

/** A write whose object is held against the rules of its schema. */
export interface RulesInput {
  readonly context: StrategyContext
  readonly endpoint: KindVersion
  readonly object: JsonObject
  readonly old: JsonObject | undefined
}
