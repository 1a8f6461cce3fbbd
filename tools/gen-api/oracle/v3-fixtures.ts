/**
 * Writes packages/api/fixtures/gnostic-v3.json.br: OpenAPI v3 documents of some built-in groups and of the CRDs in
 * crd/samples.json, each with the protobuf that upstream's encoder makes of it. Needs Go.
 *
 *   node tools/gen-api/oracle/v3-fixtures.ts
 */
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliCompressSync, constants } from 'node:zlib'
import { collectMembers } from '../../../packages/api/src/openapi/members.ts'
import { openApiV3, openApiV3Names } from '../../../packages/api/src/openapi/v3.ts'
import { builtinResources } from '../../../packages/api/src/resources/builtin-resources.ts'
import { type Crd, resourceOf } from '../../../packages/api/src/test-support/crd.ts'

const folder = import.meta.dirname
const crds = JSON.parse(readFileSync(join(folder, 'crd/samples.json'), 'utf8')) as Crd[]
const custom = crds.map(resourceOf)
const builtinNames = ['api', 'apis/apps', 'apis/apps/v1', 'apis/apiextensions.k8s.io/v1', 'apis/policy/v1']
const customNames = openApiV3Names(custom).filter(name => name.startsWith('apis/'))
const content = [
  ...builtinNames.map(name => encoded(builtinResources(), name)),
  ...customNames.map(name => encoded(custom, name)),
]
const text = JSON.stringify(content)
const file = join(folder, '../../../packages/api/fixtures/gnostic-v3.json.br')
writeFileSync(file, brotliCompressSync(text, { params: { [constants.BROTLI_PARAM_LGWIN]: 24 } }))

function encoded(resources: Parameters<typeof openApiV3>[0], name: string): object {
  const document = collectMembers(openApiV3(resources, name)!)
  const input = JSON.stringify(document)
  const protobuf = execFileSync('go', ['run', './gnostic'], { cwd: folder, input, maxBuffer: 1 << 28 })
  return { name, document, protobuf: protobuf.toString('base64') }
}
