/**
 * Writes packages/api/fixtures/crd-openapi.json.br: what upstream's own builder makes of the CRDs in crd/samples.json, as
 * OpenAPI v2 and v3, without prose. Needs Go.
 *
 *   node tools/gen-api/crd-fixtures.ts [--check]
 */
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliCompressSync, brotliDecompressSync, constants } from 'node:zlib'

type Json = Record<string, unknown>

interface Documents {
  readonly name: string
  readonly version: string
  readonly v2: { readonly paths: Json; readonly definitions: Json }
  readonly v3: { readonly paths: Json; readonly components: { readonly schemas: Json } }
}

const folder = join(import.meta.dirname, 'crd')
const file = join(import.meta.dirname, '../../packages/api/fixtures/crd-openapi.json.br')
const input = readFileSync(join(folder, 'samples.json'), 'utf8')
const output = execFileSync('go', ['run', '.'], { cwd: folder, input, encoding: 'utf8', maxBuffer: 1 << 28 })
const documents = (JSON.parse(output) as Documents[]).map(({ name, version, v2, v3 }) => ({
  name,
  version,
  v2: { paths: withoutProse(v2.paths), definitions: withoutProse(own(v2.definitions)) },
  v3: { paths: withoutProse(v3.paths), schemas: withoutProse(own(v3.components.schemas)) },
}))
const text = JSON.stringify({ crds: JSON.parse(input), documents })

if (process.argv.includes('--check')) {
  if (brotliDecompressSync(readFileSync(file)).toString() !== text) {
    console.error('packages/api/fixtures/crd-openapi.json.br is not what upstream makes of crd/samples.json')
    process.exitCode = 1
  }
} else {
  writeFileSync(file, brotliCompressSync(text, { params: { [constants.BROTLI_PARAM_LGWIN]: 24 } }))
}

/** Only the definitions of the custom resources themselves. */
function own(definitions: Json): Json {
  return Object.fromEntries(Object.entries(definitions).filter(([name]) => !name.startsWith('io.k8s.')))
}

function withoutProse(node: unknown, isProperties = false): unknown {
  if (Array.isArray(node)) return node.map(one => withoutProse(one))
  if (typeof node !== 'object' || node === null) return node
  return Object.fromEntries(
    Object.entries(node)
      .filter(([key, value]) => isProperties || key !== 'description' || typeof value !== 'string')
      .map(([key, value]) => [key, withoutProse(value, key === 'properties' && !isProperties)]),
  )
}
