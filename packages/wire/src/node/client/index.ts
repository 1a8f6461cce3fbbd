/**
 * The client's side of sockets alone: its own entry point, so that programs which serve nothing load no server.
 * @module
 */
export { type ClientTls, type ConnectOptions, connect } from './connect.ts'
export { createHttpTransport, type HttpTransport, type HttpTransportOptions } from './http-transport.ts'
