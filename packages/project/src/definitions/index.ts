/**
 * CustomResourceDefinitions as they come from files and clusters: read, checked, compared.
 * @module
 */
export { comparableDefinition } from './comparable.ts'
export { isDefinition, type ReadDefinition, readDefinition } from './read-definition.ts'
