/**
 * kustomize 5.8, natively.
 *
 *   KustomizeFiles ─► buildKustomization ─► objects, and the text that `kustomize build` prints
 *
 * No I/O: files come from the caller. `@coxswain/kustomize/node` reads the disk.
 * @module
 */
export { type BuildOptions, type BuildResult, buildKustomization } from './build/build.ts'
export type { LoadRestrictions } from './build/loader.ts'
export { isKustomizeError, KustomizeError, type KustomizeErrorCode } from './errors.ts'
export { type KustomizeFiles, memoryFiles } from './files.ts'
export type { JsonObject, JsonValue } from './yaml/decode.ts'
