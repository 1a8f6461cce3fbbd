import type { ObjectName } from './object-name.ts'

/** One thing that happened during a deployment. */
export type DeployProgress =
  | { readonly type: 'applied' | 'established' | 'pruned' | 'deleted'; readonly object: ObjectName }
  /** `message` says why a dry run could not check the object, or why it is not pruned. */
  | { readonly type: 'unchecked' | 'kept'; readonly object: ObjectName; readonly message: string }
  /** `message` is the state of a rollout or deletion, in kubectl's words. */
  | { readonly type: 'waiting' | 'ready'; readonly object: ObjectName; readonly message: string }

/** Called in the order in which things happen. */
export type OnProgress = (progress: DeployProgress) => void
