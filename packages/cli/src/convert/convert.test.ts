import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { type Schema, validateCrdSchema } from '@coxswain/apimachinery/schema'
import { readYamlDocuments } from '@coxswain/apimachinery/yaml'
import { convertText } from './convert.ts'
import { convertDefinition } from './convert-definition.ts'

const command = fileURLToPath(new URL('../../../coxswain/bin/coxswain.js', import.meta.url))

const head = `apiVersion: apiextensions.k8s.io/v1beta1
kind: CustomResourceDefinition
metadata:
  name: foos.example.com
`

function convert(spec: Record<string, unknown>) {
  const { object, notes } = convertDefinition({
    apiVersion: 'apiextensions.k8s.io/v1beta1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'foos.example.com' },
    spec: { group: 'example.com', names: { plural: 'foos', kind: 'Foo' }, ...spec },
  })
  const { versions, ...rest } = object.spec as { versions: Record<string, { openAPIV3Schema: Schema }>[] }
  for (const { schema } of versions) assert.deepEqual(validateCrdSchema(schema!.openAPIV3Schema), [])
  return { apiVersion: object.apiVersion, spec: rest as Record<string, unknown>, versions, notes }
}

const open = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }

describe('convertDefinition', () => {
  it('copies fields for all versions to every version', () => {
    const { apiVersion, versions, spec } = convert({
      scope: 'Cluster',
      versions: [
        { name: 'v1', served: true, storage: true },
        { name: 'v2', served: false, storage: false, schema: { openAPIV3Schema: { type: 'object' } } },
      ],
      preserveUnknownFields: false,
      validation: { openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object' } } } },
      subresources: { status: {} },
      additionalPrinterColumns: [{ name: 'A', type: 'string', JSONPath: '.spec.a' }],
    })
    const common = {
      subresources: { status: {} },
      additionalPrinterColumns: [{ name: 'A', type: 'string', jsonPath: '.spec.a' }],
    }
    assert.equal(apiVersion, 'apiextensions.k8s.io/v1')
    assert.deepEqual(versions, [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object' } } } },
        ...common,
      },
      {
        name: 'v2',
        served: false,
        storage: false,
        schema: { openAPIV3Schema: { type: 'object' } },
        ...common,
      },
    ])
    assert.deepEqual(Object.keys(spec), ['group', 'names', 'scope'])
    assert.equal(spec.scope, 'Cluster')
  })

  it('makes a list of a single version, and accepts anything without a schema', () => {
    const { versions, spec } = convert({ version: 'v1alpha1' })
    assert.deepEqual(versions, [
      { name: 'v1alpha1', served: true, storage: true, schema: { openAPIV3Schema: open } },
    ])
    assert.equal(spec.scope, 'Namespaced')
  })

  it('preserves unknown fields, as v1beta1 did', () => {
    const validation = {
      openAPIV3Schema: { properties: { spec: { properties: { n: { type: 'integer' } } } } },
    }
    const { versions } = convert({ version: 'v1', validation })
    assert.deepEqual(versions[0]?.schema?.openAPIV3Schema, {
      ...open,
      properties: { spec: { ...open, properties: { n: { type: 'integer' } } } },
    })
  })

  it('infers types that a structural schema needs, and reports where it cannot', () => {
    const validation = {
      openAPIV3Schema: {
        properties: { spec: { properties: { list: { items: { type: 'string' } }, any: {} } } },
      },
    }
    const { versions, notes } = convert({ version: 'v1', preserveUnknownFields: false, validation })
    assert.deepEqual(versions[0]?.schema?.openAPIV3Schema.properties?.spec?.properties, {
      list: { type: 'array', items: { type: 'string' } },
      any: { 'x-kubernetes-preserve-unknown-fields': true },
    })
    assert.deepEqual(notes, ['foos.example.com: v1: schema.spec.any has no type: any value is accepted'])
  })

  it('moves the webhook of a conversion', () => {
    const { spec } = convert({
      version: 'v1',
      conversion: { strategy: 'Webhook', webhookClientConfig: { url: 'https://x/convert' } },
    })
    assert.deepEqual(spec.conversion, {
      strategy: 'Webhook',
      webhook: { clientConfig: { url: 'https://x/convert' }, conversionReviewVersions: ['v1beta1'] },
    })
  })

  it('reports that groups of Kubernetes need an approval', () => {
    const { notes } = convert({ group: 'samplecrd.k8s.io', version: 'v1' })
    assert.match(notes[0] ?? '', /api-approved\.kubernetes\.io/)
  })
})

describe('convertText', () => {
  const other = '# kept\napiVersion: v1\nkind:   ConfigMap\nmetadata: {name: "x"}\n'

  it('leaves other documents unchanged, byte for byte', () => {
    const text = `${other}---\n${other}`
    assert.deepEqual(convertText(text), { text, notes: [] })
    const v1 = head.replace('v1beta1', 'v1')
    assert.equal(convertText(v1).text, v1)
    const mixed = convertText(`${other}--- # next\n${head}spec: {version: v1}\n---\n${other}`).text
    assert.ok(mixed.startsWith(`${other}--- # next\n`))
    assert.ok(mixed.endsWith(`---\n${other}`))
    assert.equal(readYamlDocuments(mixed).length, 3)
  })

  it('keeps comments at their keys, and moves those whose key was removed to the top', () => {
    const source = `# head
${head}spec:
  # the group
  group: example.com # a domain
  version: v1 # only one
  preserveUnknownFields: false # not any more
  validation:
    # checked
    openAPIV3Schema:
      type: object
      description: |
        # no comment
  additionalPrinterColumns:
  - name: A
    type: string
    # where it is
    JSONPath: .spec.a
# tail
`
    assert.equal(
      convertText(source).text,
      `# head
# not any more
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: foos.example.com
spec:
  # the group
  group: example.com # a domain
  scope: Namespaced
  versions:
  - name: v1 # only one
    served: true
    storage: true
    schema:
      # checked
      openAPIV3Schema:
        type: object
        description: |
          # no comment
    additionalPrinterColumns:
    - name: A
      type: string
      # where it is
      jsonPath: .spec.a
# tail
`,
    )
  })

  it('converts the items of a list, and JSON to JSON', () => {
    const item = {
      apiVersion: 'apiextensions.k8s.io/v1beta1',
      kind: 'CustomResourceDefinition',
      spec: { version: 'v1' },
    }
    const list = JSON.stringify({ apiVersion: 'v1', kind: 'List', items: [item, { kind: 'Pod' }] })
    const { items } = JSON.parse(convertText(list).text)
    assert.deepEqual([items[0].apiVersion, items[1]], ['apiextensions.k8s.io/v1', { kind: 'Pod' }])
  })
})

describe('coxswain convert', () => {
  it('converts files and standard input to standard output', () => {
    const run = (...args: string[]) =>
      spawnSync(process.execPath, [command, 'convert', ...args], {
        input: `${head}spec: {version: v1}\n`,
        encoding: 'utf8',
      })
    const { stdout, status } = run('-')
    assert.equal(status, 0)
    assert.match(stdout, /^apiVersion: apiextensions\.k8s\.io\/v1\n/)
    const missing = run('/nowhere/crd.yaml')
    assert.deepEqual([missing.status, missing.stderr], [1, 'coxswain: /nowhere/crd.yaml does not exist\n'])
    assert.equal(run().status, 2)
    assert.match(run('--help').stdout, /spec\.validation .*Exit codes/s)
  })
})
