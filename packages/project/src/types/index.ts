/**
 * Typed clients for kinds that other projects define.
 * @module
 */
export { generateTypes } from './generate-types.ts'
