import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliDecompressSync } from 'node:zlib'

/** The content of a file of `fixtures/`. */
export function readFixture(name: string): unknown {
  const bytes = readFileSync(join(import.meta.dirname, '../../fixtures', name))
  return JSON.parse(brotliDecompressSync(bytes).toString())
}
