import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { type AnyDefinedKind, isDefinedKind } from '@coxswain/apimachinery/kinds'
import { readYamlDocuments } from '@coxswain/apimachinery/yaml'
import type { GeneratedFile } from '@coxswain/project/files'
import { generateManifests } from '@coxswain/project/manifests'
import { ensureComponent } from '../../tools/components/index.ts'
import { canonical } from './compare.ts'
import fleet from './fleet.ts'
import * as operators from './kinds/operators.ts'
import * as shapes from './kinds/shapes.ts'

const goFolder = fileURLToPath(new URL('go', import.meta.url))
const output = mkdtempSync(join(tmpdir(), 'coxswain-controller-gen-'))
after(() => rmSync(output, { recursive: true }))

const kinds: readonly AnyDefinedKind[] = [...Object.values(shapes), ...Object.values(operators)].filter(
  isDefinedKind,
)
const { generated } = generateManifests({ operators: [fleet], kinds, project: { name: 'fleet' } })

type Document = {
  readonly kind: string
  readonly metadata: { readonly name: string; readonly namespace?: string }
}

const parse = (text: string): Document[] => readYamlDocuments(text).map(({ value }) => value as Document)
const ours = (pick: (file: GeneratedFile) => boolean): Document[] =>
  generated.filter(pick).flatMap(({ content }) => parse(String(content)))
const theirs = (folder: string): Document[] =>
  readdirSync(join(output, folder)).flatMap(file => parse(readFileSync(join(output, folder, file), 'utf8')))
const byName = (documents: readonly Document[]): Map<string, unknown> =>
  new Map(
    documents
      .map(
        each =>
          [`${each.kind} ${each.metadata.namespace ?? ''}/${each.metadata.name}`, canonical(each)] as const,
      )
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  )

before(async () => {
  const controllerGen = await ensureComponent('controller-gen')
  const run = promisify(execFile)
  const env = { ...process.env, GOFLAGS: '-mod=mod', GOWORK: 'off' }
  const at = (folder: string) => `output:dir=${join(output, folder)}`
  const crd = 'crd:maxDescLen=0,generateEmbeddedObjectMeta=true,allowDangerousTypes=true'
  await run(controllerGen, [crd, 'paths=./v1', at('crd')], { cwd: goFolder, env })
  await run(controllerGen, ['rbac:roleName=manager-role', 'paths=./rbac', at('rbac')], { cwd: goFolder, env })
  await run(controllerGen, ['webhook', 'paths=./webhook', at('webhook')], { cwd: goFolder, env })
})

describe('manifests beside those of controller-gen', () => {
  const definitions = ours(({ path }) => path.startsWith('config/crd/bases/'))

  it('are of 60 kinds and more', () => {
    assert.ok(definitions.length >= 60, `${definitions.length} kinds`)
    assert.deepEqual([...byName(definitions).keys()], [...byName(theirs('crd')).keys()])
  })

  for (const definition of definitions) {
    it(`are equal but for prose and order: ${definition.metadata.name}`, () => {
      const other = theirs('crd').find(each => each.metadata.name === definition.metadata.name)
      assert.deepEqual(canonical(definition), canonical(other))
    })
  }

  it('have the same roles', () => {
    const roles = ours(
      ({ path }) => path === 'config/rbac/role.yaml' || path === 'config/namespaces/role.yaml',
    )
    assert.deepEqual(byName(roles), byName(theirs('rbac')))
  })

  it('have the same webhook configurations', () => {
    const configurations = ours(({ path }) => path === 'config/webhook/manifests.yaml')
    assert.deepEqual(byName(configurations), byName(theirs('webhook')))
  })
})
