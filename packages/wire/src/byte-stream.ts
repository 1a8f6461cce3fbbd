/** A connection: bytes both ways, and nothing else. */
export interface ByteStream {
  /** What the other side sends, for one reader. Ends when it closes its side; throws when the connection breaks. */
  readonly data: AsyncIterable<Uint8Array>
  /** Resolves when there is room for more; what is written to somebody who has left is dropped. */
  write(chunk: Uint8Array): Promise<void>
  /** No more is written; what comes is still read. */
  end(): void
  destroy(): void
}
