/**
 * The manifests of a project, from its operators and kinds.
 *
 *   generateManifests({ operators, kinds, project }) -> config/crd, rbac, webhook, manager, samples, default
 *
 * @module
 */
export { generateManifests } from './manifests.ts'
export type { Manifests, ManifestsInput, ProjectInformation } from './source.ts'
export { type UnusedRight, unusedRights } from './unused-rights.ts'
export { generatedHeader } from './yaml-file.ts'
