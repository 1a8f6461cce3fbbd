/**
 * Writes the fixtures of packages/api that upstream's own code answers for (`oracle/`). Needs Go.
 *
 *   crd-openapi.json.br   what upstream's builder makes of the CRDs in oracle/crd/samples.json, without prose
 *   gnostic.json.br       the protobuf form of an OpenAPI v2 document of these CRDs
 *   protobuf-random.json.br   the protobuf of objects with some of their fields set, and its JSON
 *
 *   node tools/gen-api/oracle-fixtures.ts [--check]
 */
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliCompressSync, brotliDecompressSync, constants } from 'node:zlib'
import { buildOpenApiV2 } from '../../packages/api/src/openapi/v2.ts'
import { type Crd, resourceOf } from '../../packages/api/src/test-support/crd.ts'
import { randomObjects } from '../../packages/api/src/test-support/sample.ts'

type Json = Record<string, unknown>

interface Documents {
  readonly name: string
  readonly version: string
  readonly v2: { readonly paths: Json; readonly definitions: Json }
  readonly v3: { readonly paths: Json; readonly components: { readonly schemas: Json } }
}

const oracle = join(import.meta.dirname, 'oracle')
const samples = readFileSync(join(oracle, 'crd/samples.json'), 'utf8')
const crds = JSON.parse(samples) as Crd[]

keep('crd-openapi.json.br', { crds, documents: documentsOf() })
const document = buildOpenApiV2(crds.map(resourceOf))
const protobuf = ask('gnostic', JSON.stringify(document))
keep('gnostic.json.br', { document, protobuf: protobuf.toString('base64') })

const objects = randomObjects()
const answers = JSON.parse(ask('protobuf', JSON.stringify(objects)).toString()) as { error?: string }[]
const refused = answers.find(answer => answer.error !== undefined)
if (refused) throw new Error(`upstream refuses a sample: ${refused.error}`)
keep('protobuf-random.json.br', answers)

function ask(program: string, input: string): Buffer {
  return execFileSync('go', ['run', `./${program}`], { cwd: oracle, input, maxBuffer: 1 << 28 })
}

function documentsOf(): object[] {
  const answers = JSON.parse(ask('crd', samples).toString()) as Documents[]
  return answers.map(({ name, version, v2, v3 }) => ({
    name,
    version,
    v2: { paths: withoutProse(v2.paths), definitions: withoutProse(own(v2.definitions)) },
    v3: { paths: withoutProse(v3.paths), schemas: withoutProse(own(v3.components.schemas)) },
  }))
}

function keep(name: string, content: object): void {
  const file = join(import.meta.dirname, '../../packages/api/fixtures', name)
  const text = JSON.stringify(content)
  if (!process.argv.includes('--check')) {
    writeFileSync(file, brotliCompressSync(text, { params: { [constants.BROTLI_PARAM_LGWIN]: 24 } }))
  } else if (brotliDecompressSync(readFileSync(file)).toString() !== text) {
    console.error(`${file} is not what upstream answers`)
    process.exitCode = 1
  }
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
