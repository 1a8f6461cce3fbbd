/** What a server accepts from its clients. Times are in milliseconds. */
export interface ServerLimits {
  /** Longest request body. A longer one reaches the handler as `bodyTooLarge`. @default 3 MiB */
  readonly bodyBytes?: number
  /**
   * Bodies in memory over all connections; those that exceed their owner's share are rejected with `no room`, or a
   * 429 if the handler does not receive bodies itself. @default 256 MiB
   */
  readonly bufferedBytes?: number
  /** All headers of a request together. @default 1 MiB */
  readonly headerBytes?: number
  /** From the first byte of a request to the end of its headers, and for the TLS handshake. @default 32000 */
  readonly headerTimeout?: number
  /** From the end of the headers to the end of the body. @default 60000 */
  readonly bodyTimeout?: number
  /** How long a connection without requests is kept. @default 90000 */
  readonly idleTimeout?: number
  /** How long a client may leave a response unread. @default 60000 */
  readonly stallTimeout?: number
  /** Concurrent HTTP/2 requests per connection. @default 100 */
  readonly streams?: number
}

export type ResolvedLimits = Required<ServerLimits>

/** The defaults of {@link ServerLimits}. */
export const defaultLimits: ResolvedLimits = {
  bodyBytes: 3 * 1024 ** 2,
  bufferedBytes: 256 * 1024 ** 2,
  headerBytes: 1024 ** 2,
  headerTimeout: 32_000,
  bodyTimeout: 60_000,
  idleTimeout: 90_000,
  stallTimeout: 60_000,
  streams: 100,
}
