/**
 * Informers: a local, indexed, eventually consistent copy of one collection.
 *
 *   ListerWatcher -> Reflector -> DeltaQueue -> Store -> EventHandler -> your WorkQueue
 *
 * Reads never touch the network. Objects in the store are shared: copy to change.
 * @module
 */
export { InformerError, type InformerErrorCode, isInformerError } from './errors.ts'
export { InformerFactory, type InformerFactoryOptions, type Scope } from './factory.ts'
export type {
  AddContext,
  DeleteContext,
  EventHandler,
  HandlerOptions,
  Registration,
  UpdateContext,
} from './handler.ts'
export { Informer, type InformerOptions } from './informer.ts'
export type { BookmarkObject, ListerWatcher, ListQuery, WatchEvent, WatchQuery } from './lister-watcher.ts'
export { deepFreeze } from './mutation-detector.ts'
export { isOlder } from './resource-version.ts'
export type { IndexFunction, ReadonlyStore } from './store.ts'
export { keepMetadata, stripManagedFields, type Transform } from './transform.ts'
export type { ReflectorState } from './transition.ts'
