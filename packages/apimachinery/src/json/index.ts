/** JSON as Kubernetes reads and writes it, and helpers for its values. */
export type { Literals } from './exact-reader.ts'
export { childObject, isObject, type JsonObject } from './object.ts'
export { maxJsonBytes, readJson } from './read-json.ts'
export { deepClone, deepEqual, setMember } from './value.ts'
export { writeJson, writeJsonBytes } from './write-json.ts'
