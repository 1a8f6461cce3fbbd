/**
 * The `coxswain` command, and the only place where all parts are put together.
 * @module
 */
export { createProgram, main } from './main.ts'
