/**
 * OCI images as bytes: tar entries, configurations, manifests, indexes, and which files belong into them.
 *
 *   base image | dependencies | linked packages | code       one layer each, so a change of code is one small layer
 *
 * Reading folders and speaking to registries is in `@coxswain/project/node`.
 * @module
 */
export {
  type ConfigAddition,
  type Descriptor,
  encodeDocument,
  extendConfig,
  type ImageConfig,
  type ImageIndex,
  type ImageManifest,
  imageIndex,
  imageManifest,
} from './documents.ts'
export { type IgnoreRules, type IgnoreSyntax, parseIgnore } from './ignore.ts'
export { mediaTypes } from './media-types.ts'
export { formatPlatform, isSamePlatform, type Platform, parsePlatform } from './platform.ts'
export { formatReference, type ImageReference, parseReference } from './reference.ts'
export { createSpdx, type SbomInput, type SbomPackage } from './spdx.ts'
export { type TarEntry, tarEnd, tarHeader, tarPadding } from './tar.ts'
