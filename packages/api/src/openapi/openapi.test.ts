import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { builtinResources } from '../resources/builtin-resources.ts'
import { type Crd, resourceOf } from '../test-support/crd.ts'
import { readFixture } from '../test-support/fixture.ts'
import { withoutDescriptions } from '../test-support/without-descriptions.ts'
import { encodeGnostic } from './gnostic.ts'
import { buildOpenApiV2 } from './v2.ts'
import { buildOpenApiV3, openApiV3Names } from './v3.ts'

type Json = Record<string, unknown>

const golden = readFixture('openapi.json.br') as { v2: Json; v3: Record<string, Json> }

describe('OpenAPI of the built-in kinds', () => {
  it('is in version 2 what a real server answers', () => {
    const document = withoutDescriptions(buildOpenApiV2(builtinResources())) as Json
    for (const key of new Set([...Object.keys(golden.v2), ...Object.keys(document)])) {
      assert.deepEqual(document[key], golden.v2[key], key)
    }
  })

  it('has the documents of version 3 that a real server has', () => {
    assert.deepEqual(openApiV3Names(builtinResources()), Object.keys(golden.v3).sort())
  })

  for (const [name, expected] of Object.entries(golden.v3)) {
    it(`is in version 3 what a real server answers for ${name}`, () => {
      assert.deepEqual(withoutDescriptions(buildOpenApiV3(builtinResources(), name)), expected)
    })
  }

  it('has no documents of other names', () => {
    for (const name of [
      '',
      'api/v2',
      'apis/apps/v1/x',
      'apis/example.com',
      'apis/apps/v2',
      'x/apps/v1',
      'toString',
    ]) {
      assert.equal(buildOpenApiV3(builtinResources(), name), undefined, name)
    }
  })

  it('gives every response a description, which the specification demands', () => {
    const { paths } = buildOpenApiV2(builtinResources()) as { paths: Record<string, Record<string, Json>> }
    for (const item of Object.values(paths)) {
      for (const operation of Object.values(item).filter(one => !Array.isArray(one))) {
        for (const response of Object.values(operation.responses as Json)) {
          assert.equal(typeof (response as Json).description, 'string')
        }
      }
    }
  })
})

interface Documents {
  readonly name: string
  readonly version: string
  readonly v2: { readonly paths: Json; readonly definitions: Json }
  readonly v3: { readonly paths: Json; readonly schemas: Json }
}

const custom = readFixture('crd-openapi.json.br') as { crds: readonly Crd[]; documents: readonly Documents[] }

describe('OpenAPI of custom resources', () => {
  for (const { name, version, v2, v3 } of custom.documents) {
    const crd = custom.crds.find(candidate => candidate.metadata.name === name)
    assert.ok(crd)
    const resource = resourceOf(crd)
    const prefix = `/apis/${resource.group}/${version}/`

    it(`is in version 2 what upstream's builder makes of ${name} ${version}`, () => {
      const document = withoutDescriptions(buildOpenApiV2([...builtinResources(), resource])) as Json
      const paths = Object.entries(document.paths as Json).filter(([path]) => path.startsWith(prefix))
      assert.deepEqual(Object.fromEntries(paths), v2.paths)
      for (const [type, definition] of Object.entries(v2.definitions)) {
        assert.deepEqual((document.definitions as Json)[type], definition, type)
      }
    })

    it(`is in version 3 what upstream's builder makes of ${name} ${version}`, () => {
      const document = buildOpenApiV3([...builtinResources(), resource], `apis/${resource.group}/${version}`)
      const { paths, components } = withoutDescriptions(document) as {
        paths: Json
        components: { schemas: Json }
      }
      assert.deepEqual(paths, v3.paths)
      for (const [type, definition] of Object.entries(v3.schemas)) {
        assert.deepEqual(components.schemas[type], definition, type)
      }
    })
  }

  it('leaves out versions that are not served, and groups that upstream does not have', () => {
    const things = custom.crds.find(crd => crd.metadata.name.startsWith('things.'))
    assert.ok(things)
    const names = openApiV3Names([resourceOf(things)]).filter(name => name.includes('example-site'))
    assert.deepEqual(names, ['apis/openapi.example-site.io/v1', 'apis/openapi.example-site.io/v1alpha1'])
  })
})

describe('OpenAPI as gnostic protobuf', () => {
  it("is what upstream's encoder makes of the same document", () => {
    const sample = readFixture('gnostic.json.br') as { document: Json; protobuf: string }
    const expected = Buffer.from(sample.protobuf, 'base64')
    assert.ok(Buffer.from(encodeGnostic(sample.document)).equals(expected))
  })

  it('is made of the whole document without an error', () => {
    assert.ok(encodeGnostic(buildOpenApiV2(builtinResources())).length > 500_000)
  })
})
