/**
 * What the author of an API server imports: kinds in code, their rules, subresources and storages.
 * @module
 */

export {
  type ApiServerDefinition,
  type ComputedColumn,
  createMemoryStorage,
  createOwnApiServer,
  type Delegation,
  type DelegationOptions,
  defineApiServer,
  defineResource,
  delegateTo,
  type FetchHandlerOptions,
  type ObjectLookup,
  type ObjectStorage,
  type OwnServerOptions,
  type OwnSubresource,
  type ResourceDefinition,
  type ResourceOptions,
  type ResourceRules,
  type RuleContext,
  type StorageEvent,
  type StorageWatchOptions,
  type StoredList,
  type SubresourceAnswer,
  type SubresourceRequest,
  type TestStorageOptions,
  testStorage,
  toFetchHandler,
  type VirtualObject,
  type VirtualRequest,
} from '@coxswain/server'
export { createMemoryStore } from '@coxswain/storage'
