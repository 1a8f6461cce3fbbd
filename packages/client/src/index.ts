/**
 * A client for any Kubernetes API server: typed by kinds, over any transport.
 *
 *   Client (get, list, watch, create, apply, ...) -> RestClient (retry, deadline, warnings) -> Transport
 *
 * `@coxswain/client/node` reads kubeconfig files and creates the transport.
 * @module
 */

export { type AppliedAll, type ApplyAllOptions, applyAll, type Manifest } from './apply-all.ts'
export type {
  Client,
  DeleteResult,
  ObjectChange,
  ObjectClient,
  PatchFromOptions,
  PatchMethods,
  QueryOptions,
  Readable,
  StatusOf,
  StreamOptions,
  Subresource,
  SubresourceTarget,
  UpdateOf,
} from './client.ts'
export { conditions } from './conditions.ts'
export { type ClientOptions, createClient, type Impersonation } from './create-client.ts'
export {
  createOrPatch,
  createOrUpdate,
  type Mutate,
  type ObjectTarget,
  type Operation,
  type OperationResult,
} from './create-or-update.ts'
export { createDiscovery, type Discovery } from './discovery.ts'
export { cordon, type DrainOptions, drain, type EvictOptions, evict, uncordon } from './drain.ts'
export { ClientError, type ClientErrorCode, isClientError } from './errors.ts'
export { type Extractable, type ExtractOptions, extractApply } from './extract-apply.ts'
export {
  type DynamicInput,
  type DynamicKind,
  type DynamicObject,
  isMetadataKind,
  type KindNames,
  kindFor,
  type MetadataKind,
  metadataOf,
  type PartialObjectMetadata,
} from './kind-for.ts'
export type {
  ApplyOptions,
  Bookmark,
  CallOptions,
  DeleteAllOptions,
  DeleteOptions,
  GetOptions,
  ListOptions,
  PatchOptions,
  PatchType,
  SelectorOptions,
  Warning,
  WatchEvent,
  WatchOptions,
  WriteOptions,
} from './options.ts'
export { patchMethods } from './patch-from.ts'
export type { RateLimitOptions } from './rate-limit.ts'
export type { CallRecord, RestClient } from './rest-client.ts'
export type { QueryValues, RestRequest } from './rest-request.ts'
export { restart } from './restart.ts'
export { type RetryOnConflictOptions, retryOnConflict } from './retry-on-conflict.ts'
export {
  type AttachOptions,
  attach,
  type CommandOutput,
  type ExecOptions,
  exec,
  execute,
} from './streams/exec.ts'
export { type LogOptions, readLog } from './streams/log.ts'
export { canUpgrade, type MessageChannel, type UpgradingTransport } from './streams/message-channel.ts'
export { forwardPort, type PortConnection } from './streams/port-forward.ts'
export type { RemoteProcess, TerminalSize } from './streams/remote-process.ts'
export { type PollOptions, type UntilOptions, wait } from './wait.ts'
export { type WaitForOptions, waitFor } from './wait-for.ts'
export { type ClientHooks, type WrappableClient, wrapClient } from './wrap-client.ts'
export {
  dryRun,
  namespaced,
  readOnly,
  withFieldOwner,
  withStrictValidation,
} from './wrappers.ts'
