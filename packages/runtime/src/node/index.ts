/**
 * What an operator needs of Node.js: its file, and endpoints over HTTP.
 * @module
 */
export { createCertificateMaker } from './certificate-maker.ts'
export { type EndpointOptions, type EndpointSource, type Endpoints, serveEndpoints } from './endpoints.ts'
export { loadOperator } from './load-operator.ts'
export { createWebhookListener, type WebhookListenerOptions } from './webhook-listener.ts'
