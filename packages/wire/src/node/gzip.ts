import { pipeline, Readable } from 'node:stream'
import { promisify } from 'node:util'
import { createGunzip, createGzip, gunzip, gzip } from 'node:zlib'

/** Large answers go out at the fastest level, as kube-apiserver has it; what is kept is compressed better. */
const fastest = 1
const chunkSize = 64 * 1024

const packBytes = promisify(gzip)
const unpackBytes = promisify(gunzip)

/** gzip on the threads of the platform: the event loop only hands chunks over. */
export const nodeCompression: {
  gzip(body: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array>
  gunzip(body: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array>
  pack(bytes: Uint8Array): Promise<Uint8Array>
  unpack(bytes: Uint8Array): Promise<Uint8Array>
} = {
  async *gzip(body) {
    const stream = createGzip({ level: fastest, chunkSize })
    // Whatever goes wrong reaches the reader through the stream.
    pipeline(Readable.from(body, { objectMode: true, highWaterMark: 2 }), stream, () => {})
    yield* stream
  },
  async *gunzip(body) {
    const stream = createGunzip()
    pipeline(Readable.from(body, { objectMode: true, highWaterMark: 2 }), stream, () => {})
    yield* stream
  },
  pack: bytes => packBytes(bytes),
  unpack: bytes => unpackBytes(bytes),
}
