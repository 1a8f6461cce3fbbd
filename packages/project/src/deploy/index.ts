/**
 * Objects of a project in a cluster: applied, waited for, pruned and deleted.
 * @module
 */
export { isProjectError, ProjectError, type ProjectErrorCode } from '../errors.ts'
export { type ApplyObjectsOptions, applyObjects } from './apply-objects.ts'
export { type DeployOptions, deploy } from './deploy.ts'
export type { FoundObject } from './members.ts'
export { formatName, type Manifest, nameOf, type ObjectName } from './object-name.ts'
export type { DeployProgress, OnProgress } from './progress.ts'
export { readManifests, toManifests } from './read-manifests.ts'
export { setImage } from './set-image.ts'
export { createTarget, type DeployTarget } from './target.ts'
export {
  type LostObjects,
  planRemoval,
  type Removal,
  type RemovalOptions,
  type RemoveOptions,
  remove,
} from './undeploy.ts'
export { waitReady } from './wait-ready.ts'
