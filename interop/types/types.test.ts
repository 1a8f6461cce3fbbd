import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { deepClone } from '@coxswain/apimachinery/json'
import { type CustomResourceKind, toCustomResourceDefinition } from '@coxswain/apimachinery/kinds'
import type { ApiObject, ObjectMeta } from '@coxswain/apimachinery/meta'
import { compileSchema } from '@coxswain/apimachinery/schema'
import { isStatusError } from '@coxswain/apimachinery/status'
import { readYamlDocuments } from '@coxswain/apimachinery/yaml'
import { comparableDefinition, isDefinition, type ReadDefinition } from '@coxswain/project/definitions'
import { type Cluster, startCluster } from '@coxswain/testing'
import { downloadModule, type OperatorModule } from '../crds/operators.ts'
import { projects } from './projects.ts'
import { sampleTexts } from './sample-texts.ts'

interface Sample {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: ObjectMeta
}

const root = fileURLToPath(new URL('../..', import.meta.url))
const command = join(root, 'packages/coxswain/bin/coxswain.js')

let cluster: Cluster
/** In the repository, so that the compiler and Node find the packages. */
let folder: string

before(async () => {
  cluster = await startCluster()
  folder = mkdtempSync(join(root, 'interop/types/generated-'))
})
after(async () => {
  rmSync(folder, { recursive: true, force: true })
  await cluster[Symbol.asyncDispose]()
})

function readObjects(module: string, globs: readonly string[]): unknown[] {
  const files = globs.flatMap(pattern => globSync(pattern, { cwd: module })).sort()
  return files
    .flatMap(file => sampleTexts(file, readFileSync(join(module, file), 'utf8')))
    .flatMap(text => {
      try {
        return readYamlDocuments(text).map(({ value }) => value)
      } catch {
        return [] // a template, or a part of a document
      }
    })
}

function isSample(value: unknown): value is Sample {
  const { apiVersion, kind, metadata } = (value ?? {}) as Partial<Sample>
  return typeof apiVersion === 'string' && typeof kind === 'string' && typeof metadata?.name === 'string'
}

for (const project of projects)
  describe(`the types of ${project.name} ${project.version}`, () => testProject(project))

function testProject(project: OperatorModule): void {
  const kinds = new Map<string, CustomResourceKind<ApiObject, object, object>>()
  let given: unknown[]
  let samples: Sample[]

  it('are written', async () => {
    const module = await downloadModule(project.module, project.version)
    given = readObjects(module, project.definitions).filter(isDefinition)
    assert.ok(given.length >= project.atLeast.definitions, `${given.length} definitions`)
    const input = join(folder, 'definitions.json')
    writeFileSync(input, JSON.stringify({ apiVersion: 'v1', kind: 'List', items: given }))
    const out = join(folder, project.name.replaceAll(' ', '-'))
    const { stdout, stderr, status } = spawnSync(process.execPath, [command, 'types', input, '--out', out], {
      encoding: 'utf8',
    })
    assert.equal(status, 0, stderr)
    for (const file of stdout.trim().split('\n')) {
      for (const value of Object.values(await import(pathToFileURL(file!).href))) {
        const kind = value as CustomResourceKind<ApiObject, object, object>
        kinds.set(`${kind.group}/${kind.version} ${kind.kind}`, kind)
      }
    }
    const found = readObjects(module, project.samples)
      .filter(isSample)
      .filter(({ apiVersion, kind }) => kinds.has(`${apiVersion} ${kind}`))
    // Examples that show variants of an object use its name again.
    const idOf = ({ apiVersion, kind, metadata: { namespace = 'default', name } }: Sample) =>
      `${apiVersion} ${kind} ${namespace}/${name}`
    samples = [...Map.groupBy(found, idOf).values()].map(([first]) => first!)
    assert.ok(samples.length >= project.atLeast.samples, `${samples.length} samples`)
  })

  it('give the same definitions back', () => {
    const back = new Map<string, CustomResourceKind>()
    for (const kind of kinds.values()) back.set(`${kind.resource}.${kind.group}`, kind)
    assert.equal(back.size, given.length)
    for (const crd of given as ReadDefinition[])
      assert.deepEqual(
        comparableDefinition(toCustomResourceDefinition(back.get(crd.metadata.name)!)),
        comparableDefinition(crd),
        crd.metadata.name,
      )
  })

  it('take the sample objects on a server, and find the same wrong ones without it', async () => {
    const definitions = new Set([...kinds.values()].map(kind => toCustomResourceDefinition(kind)))
    await cluster.apply([...definitions])
    const refusals: string[] = []
    for (const sample of samples) {
      const kind = kinds.get(`${sample.apiVersion} ${sample.kind}`)!
      const refusal = await refusalOf(sample, kind)
      const found = problemsOf(sample, kind)
      if (refusal !== undefined) refusals.push(refusal)
      // The schema alone does not say what CEL rules and strict decoding say.
      if (found.length > 0) assert.ok(refusal?.includes(found[0]!), `${found[0]} - ${refusal}`)
      else assert.doesNotMatch(refusal ?? '', /Required value$|in body must/, sample.metadata.name!)
    }
    const { refused = [] } = project
    assert.deepEqual(
      refusals.filter(text => !refused.some(pattern => pattern.test(text))),
      [],
    )
    assert.ok(samples.length - refusals.length >= project.atLeast.samples / 2)
  })
}

async function refusalOf(
  { metadata: { finalizers: _finalizers, namespace: _namespace, ...metadata }, ...sample }: Sample,
  kind: CustomResourceKind<ApiObject, object, object>,
): Promise<string | undefined> {
  const object = { ...sample, metadata: kind.namespaced ? { ...metadata, namespace: 'default' } : metadata }
  try {
    await cluster.client.create(kind, object, { dryRun: true, fieldValidation: 'Strict' })
    return undefined
  } catch (error) {
    // As the server says it, and as kubectl prints it.
    if (isStatusError(error)) return `${error.message}\n${error.message.replace(/^(\w+)\.\S+/, 'The $1')}`
    throw error
  }
}

/** What the schema of the generated file says, in the words of the server. */
function problemsOf(sample: Sample, kind: CustomResourceKind): string[] {
  const schema = compileSchema(kind.schema())
  const object = deepClone(sample)
  if (schema.prune(object, { resourceRoot: true }).length > 0) return []
  schema.dropNulls(object)
  schema.coerceEmbedded(object)
  schema.applyDefaults(object)
  return schema.validate(object).map(({ field, body }) => `${field}: ${body}`)
}

it('the types of all of them compile', () => {
  writeFileSync(
    join(folder, 'tsconfig.json'),
    JSON.stringify({
      extends: '../../../tsconfig.base.json',
      compilerOptions: { noEmit: true, declaration: true, isolatedDeclarations: true },
      include: ['**/*.ts'],
    }),
  )
  const tsc = join(root, 'node_modules/.bin/tsc')
  const { stdout, status } = spawnSync(tsc, ['-p', folder], { encoding: 'utf8' })
  assert.equal(stdout, '')
  assert.equal(status, 0)
})
