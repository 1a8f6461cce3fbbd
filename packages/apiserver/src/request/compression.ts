/** Compression of responses: gzip, which the platform provides. */
export interface Compression {
  /** Compresses a stream fast, at a low level. Never blocks the thread for long. */
  gzip(body: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array>
  /** Decompresses a stream; throws when it is not gzip. */
  gunzip(body: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array>
  /** Compresses better and slower than {@link gzip}: for cached documents. */
  pack(body: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array>
}

/** Whether a client accepts gzip. */
export function acceptsGzip(acceptEncoding: string | undefined): boolean {
  if (acceptEncoding === undefined) return false
  for (const part of acceptEncoding.split(',')) {
    const [coding = '', ...parameters] = part.split(';')
    if (coding.trim().toLowerCase() !== 'gzip') continue
    return !parameters.some(parameter => /^\s*q\s*=\s*0(?:\.0*)?\s*$/i.test(parameter))
  }
  return false
}
