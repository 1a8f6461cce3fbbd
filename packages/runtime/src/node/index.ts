/**
 * What an operator needs of Node.js: its file, and endpoints over HTTP.
 * @module
 */
export type { CertificateFiles } from './certificate-files.ts'
export { createCertificateMaker } from './certificate-maker.ts'
export { createDebugHandler, type DebugHandler, type DebugOptions } from './debug-handler.ts'
export {
  type EndpointOptions,
  type Endpoints,
  type EndpointTls,
  parseBindAddress,
  serveEndpoint,
} from './endpoints.ts'
export { loadOperator } from './load-operator.ts'
export { createWebhookListener, type WebhookListenerOptions } from './webhook-listener.ts'
