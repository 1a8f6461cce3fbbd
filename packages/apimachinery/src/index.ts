/**
 * The type system of the Kubernetes API, without I/O: what a server, its clients and its tools agree on.
 *
 *   names     gvk, version, keys, scheme, rest-mapper
 *   answers   status (StatusError and its predicates), field (paths and field errors)
 *   values    quantity, int-or-string, time, duration, selectors, validation
 *   objects   meta, unstructured, conditions, owner references
 *
 * @module
 */
import * as field from './field/index.ts'

export {
  type ApplyRequest,
  createFieldManager,
  type FieldManager,
  type FieldManagerOptions,
  type UpdateRequest,
} from './apply/field-manager.ts'
export {
  decodeFieldSet,
  difference,
  emptyFieldSet,
  encodeFieldSet,
  type FieldSet,
  forEachPath,
  hasPath,
  intersection,
  isEmptySet,
  isEqualSet,
  isSubset,
  recursiveDifference,
  setAt,
  union,
} from './apply/field-set.ts'
export { type MergedConfiguration, mergeConfiguration } from './apply/merge-configuration.ts'
export type { ResetFields } from './apply/reset-fields.ts'
export { fromScaleManagedFields, type ReplicasPaths, toScaleManagedFields } from './apply/scale-fields.ts'
export type {
  Builder,
  CelOptions,
  ListBuilder,
  NumberBuilder,
  ObjectBuilder,
  StringBuilder,
} from './builder/builder.ts'
export {
  type Embedded,
  type EmbeddedObjectMeta,
  type ListOptions,
  type MapOptions,
  type NumberOptions,
  type StringOptions,
  s,
} from './builder/s.ts'
export type { ApplyField, ListMap, SchemaRef } from './builder/types.ts'
export {
  type ConditionUpdate,
  findStatusCondition,
  isStatusConditionFalse,
  isStatusConditionPresentAndEqual,
  isStatusConditionTrue,
  removeStatusCondition,
  setStatusCondition,
} from './conditions.ts'
export {
  type CrdOptions,
  type CustomResourceConversion,
  type CustomResourceDefinition,
  type CustomResourceDefinitionSpec,
  type CustomResourceDefinitionVersion,
  toCustomResourceDefinition,
} from './crd.ts'
export { resourceInfoFromCrd, resourceInfoFromKind } from './crd-resource-info.ts'
export { type CronProblem, type CronSchedule, parseCronSchedule } from './cron/cron-schedule.ts'
export { nextCronTime } from './cron/next-time.ts'
export { formatInZone, isTimeZone, offsetAt } from './cron/time-zone.ts'
export {
  type AnyDefinedKind,
  type ColumnDefinition,
  type DefinedKind,
  definedKindOf,
  defineKind,
  type KindDefinition,
  type ScaleDefinition,
  type VersionDefinition,
  type Versionless,
} from './define-kind.ts'
export {
  type AggregatedDiscovery,
  type DiscoveredGroup,
  type DiscoveredResource,
  type DiscoveredVersion,
  groupsFromAggregatedDiscovery,
  groupsFromLegacyDiscovery,
  type LegacyGroup,
  type LegacyResourceList,
  restMapperFromDiscovery,
} from './discovery.ts'
export { durationToMilliseconds, formatDuration, parseDuration } from './duration.ts'
export { isMachineryError, MachineryError, type MachineryErrorCode } from './errors.ts'
export type { FieldError, FieldErrorType } from './field/error.ts'
export {
  formatGroupKind,
  formatGroupResource,
  formatGroupVersion,
  formatGroupVersionKind,
  formatGroupVersionResource,
  type GroupKind,
  type GroupResource,
  type GroupVersion,
  type GroupVersionKind,
  type GroupVersionResource,
  gvkOf,
  parseGroupKind,
  parseGroupResource,
  parseGroupVersion,
  parseKindArg,
  parseResourceArg,
} from './gvk.ts'
export { formatAge, formatHumanDuration } from './human-duration.ts'
export {
  type IntOrString,
  intValue,
  isPercentage,
  parseIntOrString,
  scaledValueFromIntOrPercent,
} from './int-or-string.ts'
export { goPrint } from './internal/go-print.ts'
export { parseInt64 } from './internal/parse-int.ts'
export { joinErrors } from './join-errors.ts'
export type { Literals } from './json/exact-reader.ts'
export { childObject, isObject, type JsonObject } from './json/object.ts'
export { type JsonDocument, maxJsonBytes, type ReadJsonOptions, readJson } from './json/read-json.ts'
export { deepClone, deepEqual, setMember } from './json/value.ts'
export { writeJson, writeJsonBytes } from './json/write-json.ts'
export { formatKey, keyOf, parseKey } from './keys.ts'
export type { ApplyOf, CreateOf, Kind, KindOf } from './kind.ts'
export type {
  ApiList,
  ApiObject,
  Condition,
  DeepReadonly,
  ListMeta,
  ManagedFieldsEntry,
  ObjectKey,
  ObjectMeta,
  OwnerReference,
  TypeMeta,
} from './meta.ts'
export {
  getControllerOf,
  hasControllerReference,
  hasOwnerReference,
  isControlledBy,
  newControllerReference,
  type Owned,
  type Owner,
  type OwnerReferenceOptions,
  removeOwnerReference,
  setControllerReference,
  setOwnerReference,
} from './owner-references.ts'
export {
  applyJsonPatch,
  decodeJsonPatch,
  type JsonPatchOperation,
  maxJsonPatchCopyBytes,
  maxJsonPatchOperations,
  unknownJsonPatchFields,
} from './patch/json-patch.ts'
export {
  applyMergePatch,
  createMergePatch,
  createThreeWayJsonMergePatch,
  decodeMergePatch,
} from './patch/merge-patch.ts'
export {
  createThreeWayMergePatch,
  createTwoWayMergePatch,
  type ThreeWayOptions,
  type TwoWayOptions,
} from './patch/strategic-diff.ts'
export { applyStrategicMergePatch, decodeStrategicMergePatch } from './patch/strategic-merge.ts'
export {
  createProtobufCodec,
  type DefaultKind,
  type ElementType,
  type FieldType,
  frame,
  type ListEncoder,
  type ListHead,
  type Message,
  type MessageField,
  type MessageSource,
  type ProtobufCodec,
  protobufMediaType,
  readFrames,
  type ScalarType,
  type WatchEventObject,
  type WellKnownType,
} from './protobuf/index.ts'
export { canonicalizeQuantity, isQuantity, parseQuantity, Quantity } from './quantity/quantity.ts'
export type { QuantityFormat } from './quantity/suffix.ts'
export type { PrinterColumn, ResourceInfo, SubresourceInfo, Verb, VersionInfo } from './resource-info.ts'
export {
  guessResource,
  type PartialResource,
  RESTMapper,
  type RESTMapperOptions,
  type RESTMapping,
} from './rest-mapper.ts'
export { type CompiledSchema, compileSchema } from './schema/compile.ts'
export { type CrdSchemaFindings, inspectCrdSchema, validateCrdSchema } from './schema/crd-schema.ts'
export { type FieldPathTarget, followFieldPath } from './schema/field-path.ts'
export { checkPattern } from './schema/pattern.ts'
export { checkStructural } from './schema/structural.ts'
export type { Schema, ValidationRule } from './schema.ts'
export {
  type AnyObject,
  type ConversionFunction,
  convertMetadataFieldLabel,
  type DefaultingFunction,
  type FieldLabelFunction,
  Scheme,
} from './scheme.ts'
export {
  escapeFieldValue,
  type FieldRequirement,
  FieldSelector,
  type Fields,
  type FieldTransform,
  fieldSelectorFromFields,
  parseFieldSelector,
  unescapeFieldValue,
} from './selectors/field-selector.ts'
export {
  formatLabelSelector,
  type LabelSelector,
  type LabelSelectorRequirement,
  labelSelectorAsSelector,
  parseLabelSelector,
  parseToLabelSelector,
  Selector,
  selectorFromLabels,
} from './selectors/label-selector.ts'
export {
  createRequirement,
  type LabelOperator,
  type Labels,
  type Requirement,
} from './selectors/requirement.ts'
export {
  fromStatus,
  newAlreadyExists,
  newApplyConflict,
  newBadRequest,
  newConflict,
  newForbidden,
  newGenerateNameConflict,
  newGone,
  newInternalError,
  newInvalid,
  newMethodNotSupported,
  newNotAcceptable,
  newNotFound,
  newRequestEntityTooLarge,
  newResourceExpired,
  newServerTimeout,
  newServiceUnavailable,
  newTimeout,
  newTooLargeResourceVersion,
  newTooManyRequests,
  newTooManyRequestsError,
  newUnauthorized,
  newUnknownError,
  newUnsupportedMediaType,
  optimisticLockMessage,
  successStatus,
} from './status/constructors.ts'
export { type GenericResponse, newGenericServerResponse } from './status/generic-response.ts'
export {
  findStatusCause,
  isAlreadyExists,
  isBadRequest,
  isConflict,
  isExpired,
  isForbidden,
  isGone,
  isInternalError,
  isInvalid,
  isMethodNotSupported,
  isNotAcceptable,
  isNotFound,
  isRequestEntityTooLarge,
  isResourceExpired,
  isServerTimeout,
  isServiceUnavailable,
  isStoreReadError,
  isTimeout,
  isTooLargeResourceVersion,
  isTooManyRequests,
  isUnauthorized,
  isUnexpectedServerError,
  isUnsupportedMediaType,
  reasonOf,
  suggestsClientDelay,
} from './status/predicates.ts'
export {
  isStatus,
  type Status,
  type StatusCause,
  type StatusDetails,
  type StatusReason,
} from './status/status.ts'
export {
  type FailureInit,
  failureStatus,
  findStatusError,
  isStatusError,
  StatusError,
} from './status/status-error.ts'
export {
  canonicalizeMicroTime,
  canonicalizeTime,
  formatMicroTime,
  formatTime,
  type Moment,
  parseMicroTime,
  parseTime,
} from './time.ts'
export {
  type FieldStep,
  nestedArray,
  nestedBoolean,
  nestedField,
  nestedInteger,
  nestedNumber,
  nestedObject,
  nestedString,
  nestedStringArray,
  nestedStringMap,
  removeNestedField,
  setNestedField,
  type Unstructured,
} from './unstructured.ts'
export {
  isDNS1035Label,
  isDNS1123Label,
  isDNS1123Subdomain,
  isDNS1123SubdomainCaseless,
  isDNS1123SubdomainWithUnderscore,
  isWildcardDNS1123Subdomain,
} from './validation/dns.ts'
export {
  isValidCIDR,
  isValidCIDRForLegacyField,
  isValidInterfaceAddress,
  isValidIP,
  isValidIPForLegacyField,
  type LegacyIPRules,
  warningsForCIDR,
  warningsForIP,
} from './validation/ip.ts'
export {
  type CIDR,
  formatCIDR,
  formatIP,
  type IPAddress,
  isIPv4In6,
  maskIP,
  parseCIDR,
  parseIP,
} from './validation/ip-text.ts'
export {
  type LabelSelectorRules,
  validateConditions,
  validateLabelSelector,
} from './validation/label-selector.ts'
export { inclusiveRangeError, maxBytesError, maxLenError, regexError } from './validation/messages.ts'
export {
  isCIdentifier,
  isConfigMapKey,
  isEnvVarName,
  isHTTPHeaderName,
  isInRange,
  isQualifiedName,
  isRelaxedEnvVarName,
  isValidGroupID,
  isValidLabelValue,
  isValidPathSegmentName,
  isValidPathSegmentPrefix,
  isValidPercent,
  isValidPortName,
  isValidPortNum,
  isValidUserID,
} from './validation/names.ts'
export {
  fieldImmutableMessage,
  type NameValidator,
  nameIsDNS1035Label,
  nameIsDNSLabel,
  nameIsDNSSubdomain,
  nameIsPathSegment,
  type ObjectMetaRules,
  totalAnnotationSizeLimit,
  validateAnnotations,
  validateFinalizerName,
  validateFinalizers,
  validateImmutableField,
  validateLabelName,
  validateLabels,
  validateNonnegativeField,
  validateObjectMeta,
  validateObjectMetaUpdate,
  validateOwnerReferences,
} from './validation/object-meta.ts'
export {
  type DeleteOptionsToValidate,
  validateDeleteOptions,
  validateFieldManager,
  validateManagedFields,
  validatePatchOptions,
  validateWriteOptions,
  type WriteOptions,
} from './validation/options.ts'
export { comparePreferredVersions, isKubernetesVersion } from './version.ts'
export { field }
