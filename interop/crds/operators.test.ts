import assert from 'node:assert/strict'
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { readYamlDocuments, writeYamlDocuments } from '@coxswain/apimachinery/yaml'
import { createKubectl, type Kubectl } from '../support/kubectl.ts'
import { startTarget, type Target } from '../support/target.ts'
import { downloadModule, type OperatorModule, operators } from './operators.ts'

interface Manifest {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: {
    readonly name?: string
    readonly generateName?: string
    readonly namespace?: string
    finalizers?: string[]
  }
  readonly spec?: { readonly group?: string; readonly names?: { readonly kind?: string } }
}

let target: Target
let kubectl: Kubectl
let directory: string

before(async () => {
  target = await startTarget()
  kubectl = createKubectl('1.36', target.kubeconfig)
  directory = mkdtempSync(join(tmpdir(), 'coxswain-crds-'))
})
after(async () => {
  rmSync(directory, { recursive: true, force: true })
  await target[Symbol.asyncDispose]()
})

/** The objects in the files of a module. Templates, which are no YAML, have none. */
function readManifests(module: string, globs: readonly string[]): Manifest[] {
  const files = globs.flatMap(pattern => globSync(pattern, { cwd: module })).sort()
  return files.flatMap(file => {
    try {
      return readYamlDocuments(readFileSync(join(module, file))).flatMap(({ value }) =>
        isManifest(value) ? [value] : [],
      )
    } catch {
      return []
    }
  })
}

function isManifest(value: unknown): value is Manifest {
  return (
    typeof value === 'object' &&
    value !== null &&
    'apiVersion' in value &&
    'kind' in value &&
    'metadata' in value
  )
}

const groupOf = ({ apiVersion }: Manifest) => apiVersion.split('/')[0]
const idOf = ({ kind, metadata }: Manifest) => `${kind}/${metadata.name}`

async function apply(name: string, manifests: readonly Manifest[], ...options: string[]) {
  const file = join(directory, name)
  writeFileSync(file, writeYamlDocuments(manifests))
  return await kubectl('apply', ...options, '-f', file)
}

/** The first of several objects of one name: examples that show variants of an object use its name again. */
function firstOfEach(manifests: readonly Manifest[]): Manifest[] {
  const byName = new Map<string, Manifest>()
  for (const manifest of manifests) {
    const name = `${manifest.apiVersion} ${manifest.metadata.namespace ?? 'default'} ${idOf(manifest)}`
    if (!byName.has(name)) byName.set(name, manifest)
  }
  return [...byName.values()]
}

/** What kubectl tells of objects that the server did not take. */
function refusals(stderr: string): string[] {
  return stderr
    .split(/\n(?=Error from server|The \w+ "|Warning:|error: )/)
    .filter(text => text.trim() !== '' && !text.startsWith('Warning:'))
}

for (const operator of operators)
  describe(`the custom resources of ${operator.name} ${operator.version}`, () => testOperator(operator))

function testOperator(operator: OperatorModule): void {
  let definitions: Manifest[]
  let samples: Manifest[]

  before(async () => {
    const module = await downloadModule(operator.module, operator.version)
    definitions = readManifests(module, operator.definitions).filter(
      ({ kind }) => kind === 'CustomResourceDefinition',
    )
    const kinds = new Set(definitions.map(({ spec }) => `${spec?.group}/${spec?.names?.kind}`))
    const found = readManifests(module, operator.samples).filter(
      manifest => kinds.has(`${groupOf(manifest)}/${manifest.kind}`) && manifest.metadata.name,
    )
    samples = firstOfEach(found)
    // Their controllers do not run here, so nothing would remove them.
    for (const { metadata } of samples) delete metadata.finalizers
  })

  it('are there to be tested', () => {
    assert.ok(definitions.length >= operator.atLeast.definitions, `${definitions.length} definitions`)
    assert.ok(samples.length >= operator.atLeast.samples, `${samples.length} samples`)
  })

  it('install', async () => {
    const { code, stderr } = await apply('definitions.yaml', definitions, '--server-side')
    assert.equal(code, 0, stderr)
    const names = definitions.map(({ metadata }) => `crd/${metadata.name}`)
    // kubectl cannot wait for a definition that has no conditions yet.
    for (let attempt = 1; ; attempt++) {
      const waited = await kubectl('wait', '--for=condition=Established', '--timeout=120s', ...names)
      if (waited.code === 0) break
      assert.ok(attempt < 10, waited.stderr)
    }
  })

  it('take the sample objects, and the same again', async () => {
    const namespaces = new Set(samples.flatMap(({ metadata }) => metadata.namespace ?? []))
    for (const namespace of namespaces) await kubectl('create', 'namespace', namespace)
    const { stderr } = await apply('samples.yaml', samples, '--validate=strict')
    const errors = refusals(stderr)
    const again = await apply('samples.yaml', samples, '--validate=strict')
    assert.doesNotMatch(again.stdout, / created$/m)
    assert.equal(refusals(again.stderr).length, errors.length)
    const { refused = [] } = operator
    assert.deepEqual(
      errors.filter(error => !refused.some(pattern => pattern.test(error))),
      [],
    )
    assert.deepEqual(
      refused.filter(pattern => !errors.some(error => pattern.test(error))),
      [],
    )
  })

  it('show and explain them', async () => {
    const [first] = definitions
    const resources = definitions.map(({ metadata }) => metadata.name!)
    const { code, stderr } = await kubectl('get', resources.join(','), '--all-namespaces')
    assert.equal(code, 0, stderr)
    const explained = await kubectl('explain', `${first!.metadata.name!.split('.')[0]}.spec`)
    assert.equal(explained.code, 0, explained.stderr)
    assert.match(explained.stdout, /FIELDS?:/)
  })

  it('go again, with their objects', async () => {
    const names = definitions.map(({ metadata }) => `crd/${metadata.name}`)
    const { code, stderr } = await kubectl('delete', '--wait=true', '--timeout=120s', ...names)
    assert.equal(code, 0, stderr)
  })
}
