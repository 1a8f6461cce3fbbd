/**
 * The files of a new project, what is added to it, and how a later version of the scaffold is merged into it.
 *
 *   createApi, createWebhook -> new files and lines for markers -> writeFiles
 *   planUpgrade              -> base, yours, this version's -> merged texts
 *
 * @module
 */
export { diffTexts } from './diff-texts.ts'
export { type Insertion, insertAtMarker } from './insert.ts'
export { type MergedText, type MergeInput, type MergeLabels, mergeTexts } from './merge-texts.ts'
export {
  checkProjectNames,
  problemOfDomain,
  problemOfGroup,
  problemOfKind,
  problemOfProjectName,
  problemOfVersion,
  type ResourceNames,
} from './names.ts'
export { completePackageJson } from './package-json.ts'
export { pluginFiles } from './plugin-files.ts'
export {
  type ProjectFile,
  type ProjectResource,
  type ProjectWebhooks,
  readProjectFile,
  writeProjectFile,
} from './project-file.ts'
export { scaffoldVersion } from './project-files.ts'
export {
  type CreateApi,
  type CreateWebhook,
  createApi,
  createWebhook,
  pristineFiles,
  type ScaffoldChange,
} from './scaffold.ts'
export { basePath, extendBase, newBase, readBase, type ScaffoldBase, writeBase } from './scaffold-base.ts'
export { planUpgrade, type UpgradedFile, type UpgradeInput } from './upgrade.ts'
