/**
 * API servers of one's own: kinds in code, with rules, subresources, virtual resources, and any database.
 *
 *   defineResource(Pizza.v1, { rules, subresources, storage, virtual })
 *   defineApiServer({ groups })       data; importing it starts nothing
 *   createOwnApiServer(definition)    alone, or behind the aggregator of a cluster with `delegation: delegateTo(...)`
 *   toFetchHandler(server)            in a web application
 *   testStorage(...)                  the contract of a database, as tests
 *
 * @module
 */
export {
  type ApiServerDefinition,
  createOwnApiServer,
  defineApiServer,
  type OwnServerOptions,
} from './define-api-server.ts'
export { defineResource } from './define-resource.ts'
export { type Delegation, type DelegationOptions, delegateTo } from './delegation.ts'
export { type FetchHandlerOptions, toFetchHandler } from './fetch-handler.ts'
export type {
  ComputedColumn,
  ObjectLookup,
  OwnSubresource,
  ResourceDefinition,
  ResourceOptions,
  ResourceRules,
  RuleContext,
  SubresourceAnswer,
  SubresourceRequest,
  VirtualObject,
  VirtualRequest,
} from './resource.ts'
export { createMemoryStorage } from './storage/memory-storage.ts'
export type {
  ObjectStorage,
  StorageEvent,
  StorageWatchOptions,
  StoredList,
} from './storage/object-storage.ts'
export { type TestStorageOptions, testStorage } from './storage/test-storage.ts'
