/** A connection: bytes both ways, and nothing else. */
export interface ByteStream {
  /** What the peer sends, for one reader. Ends when it closes its side; throws when the connection fails. */
  readonly data: AsyncIterable<Uint8Array>
  /** Resolves when more can be written; data for a disconnected peer is dropped. */
  write(chunk: Uint8Array): Promise<void>
  /** Closes the write side; the read side stays open. */
  end(): void
  destroy(): void
}
