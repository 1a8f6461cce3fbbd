/**
 * Writes what kustomize 5.8 knows about built-in kinds into packages/kustomize/src/gen/, from its Go modules: facts only.
 *
 *   field-specs.ts   where its transformers look: one line a field, `PATH [+] [GROUP/VERSION/KIND]`
 *   merge-schema.ts  the lists that a strategic merge patch merges, by definition, and the scope of kinds
 */
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gunzipSync } from 'node:zlib'
import { printFieldSpecs } from './field-specs.ts'
import { type Bundle, printMergeSchema, readScopes } from './merge-schema.ts'

const version = 'v0.21.2'
const output = fileURLToPath(new URL('../../packages/kustomize/src/gen/', import.meta.url))

function moduleFolder(module: string): string {
  const answer = execFileSync('go', ['mod', 'download', '-json', `${module}@${version}`], {
    cwd: tmpdir(),
    encoding: 'utf8',
  })
  return (JSON.parse(answer) as { Dir: string }).Dir
}

const api = moduleFolder('sigs.k8s.io/kustomize/api')
const kyaml = moduleFolder('sigs.k8s.io/kustomize/kyaml')
const openapi = join(kyaml, 'openapi')
const bundle = JSON.parse(
  gunzipSync(
    readFileSync(join(openapi, 'kubernetesapi/data/kubernetes-openapi-union-v1.21.2.bundle-v1.json.gz')),
  ).toString(),
) as Bundle
const scopes = readScopes(readFileSync(join(openapi, 'openapi.go'), 'utf8'))
writeFileSync(join(output, 'merge-schema.ts'), printMergeSchema(bundle, scopes))
writeFileSync(
  join(output, 'field-specs.ts'),
  printFieldSpecs(join(api, 'internal/konfig/builtinpluginconsts')),
)
