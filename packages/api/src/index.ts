/**
 * The built-in kinds of Kubernetes 1.36 as data: resources, schemas, protobuf messages, discovery and OpenAPI. The kinds
 * as values and types are entry points of their own: `import { Pod } from '@coxswain/api/core/v1'`.
 *
 * @module
 */
export {
  type DecodeBuiltinOptions,
  type DecodedBuiltin,
  decodeBuiltin,
  decodeObjectMeta,
} from './decode/builtin-decoder.ts'
export {
  type AggregatedDiscovery,
  aggregatedDiscovery,
  aggregatedDiscoveryMediaType,
  type GroupDiscovery,
  type ResourceDiscovery,
  type ResponseKind,
  type VersionDiscovery,
} from './discovery/aggregated.ts'
export {
  type ApiGroup,
  type ApiResource,
  apiGroup,
  apiGroupList,
  apiResourceList,
  apiVersions,
} from './discovery/legacy.ts'
export { storageVersionHash } from './discovery/storage-hash.ts'
export type { Ref } from './handle.ts'
export { encodeOpenApiV2 } from './openapi/gnostic-v2.ts'
export { encodeOpenApiV3 } from './openapi/gnostic-v3.ts'
export { type Member, Members, writeMembers } from './openapi/members.ts'
export { type ForeignOpenApiV2, filterOpenApiV2, mergeOpenApiV2 } from './openapi/merge-v2.ts'
export { openApiV2 } from './openapi/v2.ts'
export { openApiV3, openApiV3Names, openApiV3Place } from './openapi/v3.ts'
export { builtinProtobuf } from './protobuf.ts'
export { builtinSchema } from './registry.ts'
export { aboutKind, builtinResources, isBuiltinResource } from './resources/builtin-resources.ts'
export { type KindSelector, resourceName, selectResources } from './resources/select-resources.ts'
export { isBuiltinGroup, servedGroups } from './served-groups.ts'
export type { Definition } from './table/definition.ts'
export type { Apply, Create } from './variants.ts'
