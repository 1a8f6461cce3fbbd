import { pipeline, Readable } from 'node:stream'
import { createGunzip, createGzip, type Gunzip, type Gzip } from 'node:zlib'

/** Large responses are compressed at the fastest level, as kube-apiserver does; cached documents are compressed better. */
const fastest = 1
const chunkSize = 64 * 1024

/** gzip on the platform's threads: the event loop only hands chunks over. */
export const nodeCompression: {
  gzip(body: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array>
  gunzip(body: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array>
  pack(body: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array>
} = {
  gzip: body => through(createGzip({ level: fastest, chunkSize }), body),
  gunzip: body => through(createGunzip(), body),
  pack: body => through(createGzip({ chunkSize }), body),
}

async function* through(
  stream: Gzip | Gunzip,
  body: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array, void, undefined> {
  // Errors reach the reader through the stream.
  pipeline(Readable.from(body, { objectMode: true, highWaterMark: 2 }), stream, () => {})
  yield* stream
}
