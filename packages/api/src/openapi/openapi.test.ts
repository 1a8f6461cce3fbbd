import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { builtinResources } from '../resources/builtin-resources.ts'
import { type Crd, resourceOf } from '../test-support/crd.ts'
import { readFixture } from '../test-support/fixture.ts'
import { withoutDescriptions } from '../test-support/without-descriptions.ts'
import { encodeOpenApiV2 } from './gnostic-v2.ts'
import { encodeOpenApiV3 } from './gnostic-v3.ts'
import { collectMembers, Members, writeMembers } from './members.ts'
import { buildOpenApiV2, openApiV2 } from './v2.ts'
import { openApiV3, openApiV3Names } from './v3.ts'

type Json = Record<string, unknown>

const buildV3 = (resources: Parameters<typeof openApiV3>[0], name: string) => {
  const document = openApiV3(resources, name)
  return document && collectMembers(document)
}

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
      assert.deepEqual(withoutDescriptions(buildV3(builtinResources(), name)), expected)
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
      assert.equal(buildV3(builtinResources(), name), undefined, name)
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
      const document = buildV3([...builtinResources(), resource], `apis/${resource.group}/${version}`)
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

  it('is the same text in pieces as in whole, none of which is larger than one definition', () => {
    const resources = [...builtinResources(), ...custom.crds.map(resourceOf)]
    const pieces = [...writeMembers(openApiV2(resources))]
    assert.equal(pieces.join(''), JSON.stringify(buildOpenApiV2(resources)))
    assert.ok(Math.max(...pieces.map(({ length }) => length)) < 32 * 1024)
  })

  it('describes apiVersion, kind and metadata, also of lists', () => {
    const [crd] = custom.crds
    const resource = resourceOf(crd!)
    const { definitions } = buildOpenApiV2([...builtinResources(), resource]) as { definitions: Json }
    const described = Object.values(definitions).filter(one => {
      const [kind] = ((one as Json)['x-kubernetes-group-version-kind'] ?? []) as { group: string }[]
      return kind?.group === resource.group && (one as Json).properties
    }) as { properties: Record<string, Json> }[]
    assert.ok(described.length >= 2)
    for (const { properties } of described) {
      for (const name of ['apiVersion', 'kind', 'metadata']) {
        assert.match(
          String(properties[name]?.description),
          /^(APIVersion|Kind|Metadata|Standard object's metadata)\b/,
          name,
        )
      }
    }
  })

  it('describes every field of ObjectMeta', () => {
    const { definitions } = buildOpenApiV2(builtinResources()) as {
      definitions: Record<string, { properties: Record<string, Json> }>
    }
    const { properties } = definitions['io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta']!
    assert.equal(Object.keys(properties).length, 15)
    for (const [name, { description }] of Object.entries(properties)) assert.ok(description, name)
    assert.match(String(properties.creationTimestamp?.description), /^CreationTimestamp is a timestamp/)
  })

  it('leaves out versions that are not served, and groups that upstream does not have', () => {
    const things = custom.crds.find(crd => crd.metadata.name.startsWith('things.'))
    assert.ok(things)
    const names = openApiV3Names([resourceOf(things)]).filter(name => name.includes('example-site'))
    assert.deepEqual(names, ['apis/openapi.example-site.io/v1', 'apis/openapi.example-site.io/v1alpha1'])
  })
})

/** A document whose members of these names, which are not those of any path or schema, come one by one. */
function inParts(object: Json, names: readonly string[]): Members {
  return new Members(() =>
    Object.entries(object).map(([name, value]) =>
      names.includes(name) ? [name, inParts(value as Json, names)] : [name, value],
    ),
  )
}

describe('OpenAPI as gnostic protobuf', () => {
  it("is what upstream's encoder makes of the same document", () => {
    const sample = readFixture('gnostic.json.br') as { document: Json; protobuf: string }
    const expected = Buffer.from(sample.protobuf, 'base64')
    const document = inParts(sample.document, ['paths', 'definitions'])
    assert.ok(Buffer.concat([...encodeOpenApiV2(document)]).equals(expected))
  })

  it("is what upstream's encoder makes of the same documents of version 3", () => {
    const samples = readFixture('gnostic-v3.json.br') as { name: string; document: Json; protobuf: string }[]
    for (const { name, document, protobuf } of samples) {
      const parts = inParts(document, ['paths', 'components', 'schemas'])
      const bytes = Buffer.concat([...encodeOpenApiV3(parts)])
      assert.ok(bytes.equals(Buffer.from(protobuf, 'base64')), name)
    }
    assert.ok(samples.length > 5)
  })

  it('is made of the whole document without an error', () => {
    assert.ok(Buffer.concat([...encodeOpenApiV2(openApiV2(builtinResources()))]).length > 500_000)
  })
})
