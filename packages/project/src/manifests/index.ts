/**
 * The manifests of a project, from its operators and kinds.
 *
 *   generateManifests({ operators, kinds, project }) -> config/crd, rbac, webhook, manager, samples, default
 *
 * @module
 */
export { generateManifests } from './manifests.ts'
export { type RecordedCall, readRecordedCalls } from './recorded-calls.ts'
export type { Manifests, ManifestsInput, ProjectInformation } from './source.ts'
export { generatedHeader } from './yaml-file.ts'
