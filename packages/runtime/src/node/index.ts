/**
 * What an operator needs of Node.js: its file, the process's signals, and endpoints over HTTP.
 * @module
 */
export { type EndpointOptions, type EndpointSource, type Endpoints, serveEndpoints } from './endpoints.ts'
export { loadOperator } from './load-operator.ts'
export { abortOnSignals } from './signals.ts'
