/**
 * The files of a project on a disk.
 * @module
 */
export { compareFiles, type FileDifference } from './compare-files.ts'
export { type WriteFilesOptions, writeFiles } from './write-files.ts'
