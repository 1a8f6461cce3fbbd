import { constants, createDeflate, createInflate, type Deflate, type Inflate } from 'node:zlib'
import { headerDictionary } from './dictionary.ts'

/** The maximum number of headers. */
const maxPairs = 256

/** SPDY/3 headers in both directions. Each direction is one compressed stream: blocks must be processed in order, one at a time. */
export class HeaderBlocks {
  readonly #inflate: Inflate = createInflate({ dictionary: headerDictionary })
  readonly #deflate: Deflate = createDeflate({ dictionary: headerDictionary })

  /** Names are lower case. */
  async decode(block: Uint8Array): Promise<Map<string, string>> {
    const bytes = await pass(this.#inflate, block)
    const headers = new Map<string, string>()
    let at = 0
    const number = () => {
      const value = bytes.readUInt32BE(at)
      at += 4
      return value
    }
    const text = () => {
      const length = number()
      at += length
      return bytes.toString('utf8', at - length, at)
    }
    const count = number()
    if (count > maxPairs) throw new RangeError('too many headers')
    for (let index = 0; index < count; index++) {
      const name = text()
      headers.set(name.toLowerCase(), text())
    }
    return headers
  }

  async encode(headers: ReadonlyMap<string, string>): Promise<Uint8Array> {
    const pieces: Buffer[] = [numberBytes(headers.size)]
    for (const [name, value] of headers) {
      for (const text of [name, value]) {
        const bytes = Buffer.from(text)
        pieces.push(numberBytes(bytes.length), bytes)
      }
    }
    return await pass(this.#deflate, Buffer.concat(pieces))
  }

  close(): void {
    this.#inflate.destroy()
    this.#deflate.destroy()
  }
}

function numberBytes(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}

/** The output of a compressed stream for its input. */
function pass(stream: Inflate | Deflate, chunk: Uint8Array): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const pieces: Buffer[] = []
    const onData = (piece: Buffer) => pieces.push(piece)
    const onError = (error: Error) => {
      stream.off('data', onData)
      reject(error)
    }
    stream.on('data', onData)
    stream.once('error', onError)
    stream.write(chunk)
    stream.flush(constants.Z_SYNC_FLUSH, () => {
      stream.off('data', onData).off('error', onError)
      resolve(Buffer.concat(pieces))
    })
  })
}
