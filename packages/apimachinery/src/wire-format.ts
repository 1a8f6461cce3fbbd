/**
 * What a client needs to talk to a server: its own entry point, so that programs which only do that load no JSON reader, no
 * field errors and nothing else of the folders these are in.
 * @module
 */
export {
  groupsFromAggregatedDiscovery,
  groupsFromLegacyDiscovery,
  restMapperFromDiscovery,
} from './discovery/discovery.ts'
export { isMachineryError } from './errors.ts'
export { writeJsonBytes } from './json/write-json.ts'
export { parseGroupVersion } from './meta/gvk.ts'
export { formatKey, keyOf } from './meta/keys.ts'
export { isStatus } from './meta/status.ts'
export { createMergePatch } from './patch/merge-patch.ts'
export { newGenericServerResponse } from './status/generic-response.ts'
export { isConflict, isExpired, isForbidden, isNotFound, isTooManyRequests } from './status/predicates.ts'
export { isStatusError, StatusError } from './status/status-error.ts'
