import { Buffer } from 'node:buffer'
import { closeSync, openSync, readFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import { witnessName } from './database.ts'
import { ensurePrivate } from './private-file.ts'

const magic = 'coxshead'
const size = 24

/**
 * Records, beside the database, the newest durable revision. It is written after each commit and never
 * synced: after a power cut it may be behind, never ahead. A database that is behind it has lost its end, which SQLite by
 * itself cannot distinguish from a write that was never finished.
 */
export class Witness {
  readonly #fd: number
  readonly #buffer = Buffer.alloc(size)

  constructor(directory: string) {
    this.#fd = openSync(join(directory, witnessName), 'r+')
    this.#buffer.write(magic, 0, 'latin1')
  }

  /** Creates the file when it does not exist. */
  static open(directory: string): Witness {
    ensurePrivate(join(directory, witnessName))
    return new Witness(directory)
  }

  /** A failed write leaves the old one, which is only behind. */
  write(revision: number): void {
    this.#buffer.writeDoubleLE(revision, 8)
    this.#buffer.writeUInt32LE(crc32(this.#buffer.subarray(0, 16)), 16)
    try {
      writeSync(this.#fd, this.#buffer, 0, size, 0)
    } catch {
      // The commit itself is durable; the next one will report the failing disk.
    }
  }

  close(): void {
    closeSync(this.#fd)
  }
}

/** The revision recorded in `directory`; undefined when there is none or it cannot be read. */
export function readWitness(directory: string): number | undefined {
  let content: Buffer
  try {
    content = readFileSync(join(directory, witnessName))
  } catch {
    return undefined
  }
  if (content.length !== size || content.toString('latin1', 0, 8) !== magic) return undefined
  if (crc32(content.subarray(0, 16)) !== content.readUInt32LE(16)) return undefined
  return content.readDoubleLE(8)
}
