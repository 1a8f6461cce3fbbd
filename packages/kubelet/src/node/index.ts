/**
 * Containers that are processes of this machine.
 * @module
 */
export { createDnsSockets, type DnsSocketsOptions } from './dns-sockets.ts'
export { type CatalogueImage, hostImages, type ImageCatalogue } from './image-catalogue.ts'
export { type ChosenIsolation, chooseIsolation, type Isolation } from './namespaces.ts'
export { createProcessRuntime, type ProcessRuntimeOptions } from './process-runtime.ts'
export { createServiceSockets, type ServiceSocketsOptions } from './service-sockets.ts'
