/**
 * The client's side of sockets alone: a separate entry point, so that programs which serve nothing load no server.
 * @module
 */
export { acceptKey } from './accept-key.ts'
export { type ClientTls, type ConnectOptions, connect } from './connect.ts'
export { createHttpTransport, type HttpTransport, type HttpTransportOptions } from './http-transport.ts'
