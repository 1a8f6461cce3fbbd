/** Names, labels, addresses and metadata: what the API server accepts, in its own words. */
export {
  isDNS1035Label,
  isDNS1123Label,
  isDNS1123Subdomain,
  isDNS1123SubdomainWithUnderscore,
  isWildcardDNS1123Subdomain,
} from './dns.ts'
export {
  isValidCIDR,
  isValidCIDRForLegacyField,
  isValidInterfaceAddress,
  isValidIP,
  isValidIPForLegacyField,
  warningsForCIDR,
  warningsForIP,
} from './ip.ts'
export { type CIDR, formatCIDR, formatIP, isIPv4In6, maskIP, parseCIDR, parseIP } from './ip-text.ts'
export { validateConditions, validateLabelSelector } from './label-selector.ts'
export { regexError } from './messages.ts'
export {
  isCIdentifier,
  isConfigMapKey,
  isHTTPHeaderName,
  isQualifiedName,
  isRelaxedEnvVarName,
  isValidGroupID,
  isValidLabelValue,
  isValidPathSegmentName,
  isValidPercent,
  isValidPortName,
  isValidPortNum,
  isValidUserID,
} from './names.ts'
export {
  fieldImmutableMessage,
  type NameValidator,
  nameIsDNS1035Label,
  nameIsDNSLabel,
  nameIsDNSSubdomain,
  nameIsPathSegment,
  validateAnnotations,
  validateFinalizerName,
  validateImmutableField,
  validateLabelName,
  validateLabels,
  validateObjectMeta,
  validateObjectMetaUpdate,
} from './object-meta.ts'
export { validateFieldManager } from './options.ts'
