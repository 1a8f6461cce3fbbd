/**
 * Files that generators make. A generator returns them; whether they are written, compared or printed is the caller's decision.
 * @module
 */
export { isProjectError, ProjectError, type ProjectErrorCode } from '../errors.ts'
export { checkPath } from './check-path.ts'
export type { GeneratedFile } from './generated-file.ts'
