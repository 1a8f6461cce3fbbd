/**
 * What a new version of a CRD breaks: for manifests that were valid, for clients, and for stored objects.
 * @module
 */
export { compareAllDefinitions, compareDefinitions } from './compare-definitions.ts'
export { type CompatFinding, formatFinding } from './finding.ts'
