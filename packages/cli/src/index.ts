/**
 * The `coxswain` command, and the only place where all parts are assembled.
 * @module
 */
export { createProgram, main } from './main.ts'
