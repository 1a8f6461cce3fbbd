/**
 * The built-in control loops, each an operator like any other.
 * @module
 */
export { createGarbageCollector } from './garbage-collector/garbage-collector.ts'
export { createNamespaceController } from './namespace/namespace-controller.ts'
