/**
 * Writes packages/api/fixtures/protobuf.json.br: what upstream's own encoder made of every kind (`testdata` of the pinned
 * modules), as JSON and as protobuf. Needs Go.
 *
 *   node tools/gen-api/fixtures.ts [--check]
 */
import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliCompressSync, brotliDecompressSync, constants } from 'node:zlib'

const modules = {
  'k8s.io/api': 'testdata/HEAD',
  'k8s.io/apiextensions-apiserver': 'pkg/apis/testdata/HEAD',
}
const file = join(import.meta.dirname, '../../packages/api/fixtures/protobuf.json.br')
const samples = Object.entries(modules).flatMap(([module, folder]) =>
  readSamples(join(directoryOf(module), folder)),
)
const text = JSON.stringify(samples)

if (process.argv.includes('--check')) {
  if (brotliDecompressSync(readFileSync(file)).toString() !== text) {
    console.error('packages/api/fixtures/protobuf.json.br is not what the pinned modules hold')
    process.exitCode = 1
  }
} else {
  const params = { [constants.BROTLI_PARAM_LGWIN]: 24 }
  writeFileSync(file, brotliCompressSync(text, { params }))
  console.log(`${samples.length} kinds`)
}

function directoryOf(module: string): string {
  const args = ['list', '-m', '-f', '{{.Dir}}', module]
  return execFileSync('go', args, { cwd: join(import.meta.dirname, 'go'), encoding: 'utf8' }).trim()
}

function readSamples(folder: string): { name: string; json: unknown; protobuf: string }[] {
  return readdirSync(folder)
    .filter(name => name.endsWith('.pb'))
    .map(name => ({
      name: name.slice(0, -3),
      json: JSON.parse(readFileSync(join(folder, name.replace(/pb$/, 'json')), 'utf8')),
      protobuf: readFileSync(join(folder, name)).toString('base64'),
    }))
}
