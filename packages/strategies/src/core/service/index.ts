/**
 * What Services take from the pools of addresses and node ports, for the part of the server that maintains them.
 *
 * @module
 */
export {
  addressAt,
  addressManager,
  addressPrefix,
  canonicalAddress,
  createIPAddress,
  createPortEntry,
  isOwnedBy,
  managedByLabel,
  nodePortPrefix,
  parseRange,
  parseServiceRanges,
  portKey,
  rangePrefix,
} from './pools.ts'
export { clusterIPsOf, isExternalName, isHeadless, needsHealthCheck, nodePortsOf, specOf } from './spec.ts'
