/** What a server serves: discovery documents, and the mapping between kinds and resources. */
export {
  type AggregatedDiscovery,
  type DiscoveredGroup,
  groupsFromAggregatedDiscovery,
  groupsFromLegacyDiscovery,
  type LegacyGroup,
  type LegacyResourceList,
  restMapperFromDiscovery,
} from './discovery.ts'
export { type PartialResource, RESTMapper, type RESTMapping } from './rest-mapper.ts'
