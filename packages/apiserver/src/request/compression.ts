/** How answers are made smaller: gzip, which needs the platform. */
export interface Compression {
  /** Compresses fast and a bit, as the chunks come. Never holds up others for long. */
  gzip(body: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array>
  /** Undoes gzip as the chunks come; throws where they are none. */
  gunzip(body: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array>
  /** Compresses better and slower than {@link gzip}: for documents that are kept. */
  pack(body: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array>
}

/** Whether a client takes gzip. */
export function acceptsGzip(acceptEncoding: string | undefined): boolean {
  if (acceptEncoding === undefined) return false
  for (const part of acceptEncoding.split(',')) {
    const [coding = '', ...parameters] = part.split(';')
    if (coding.trim().toLowerCase() !== 'gzip') continue
    return !parameters.some(parameter => /^\s*q\s*=\s*0(?:\.0*)?\s*$/i.test(parameter))
  }
  return false
}
