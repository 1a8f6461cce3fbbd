/**
 * The built-in control loops, each an operator like any other.
 * @module
 */
export { createGarbageCollector } from './garbage-collector/garbage-collector.ts'
export { createNamespaceController } from './namespace/namespace-controller.ts'
export { createRootCaPublisher } from './root-ca/root-ca-publisher.ts'
export { createServiceAccountController } from './service-account/service-account-controller.ts'
