/**
 * What a client needs to talk to a server: its own entry point, so that programs which only do that do not load schemas,
 * patches and field management.
 * @module
 */
export {
  groupsFromAggregatedDiscovery,
  groupsFromLegacyDiscovery,
  restMapperFromDiscovery,
} from './discovery.ts'
export { isMachineryError } from './errors.ts'
export { parseGroupVersion } from './gvk.ts'
export { writeJsonBytes } from './json/write-json.ts'
export { newGenericServerResponse } from './status/generic-response.ts'
export { isConflict, isExpired, isNotFound } from './status/predicates.ts'
export { isStatus } from './status/status.ts'
export { isStatusError, StatusError } from './status/status-error.ts'
