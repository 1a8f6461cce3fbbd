import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { collectMembers, Members } from './members.ts'
import { type ForeignOpenApiV2, filterOpenApiV2, mergeOpenApiV2 } from './merge-v2.ts'

const kinds = 'x-kubernetes-group-version-kind'
const meta = { type: 'object', properties: { name: { type: 'string' } } }

const own = new Members(() =>
  Object.entries({
    swagger: '2.0',
    paths: new Members(() => Object.entries({ '/apis/a/v1/x': { get: {} } })),
    definitions: {
      ObjectMeta: meta,
      Status: { type: 'object', [kinds]: [{ group: '', version: 'v1', kind: 'Status' }] },
    },
    parameters: { page: { name: 'page', in: 'query' } },
  }),
)

const other: ForeignOpenApiV2 = {
  paths: {
    '/apis/a/v1/x': { get: { theirs: true } },
    '/apis/b/v1/y': {
      get: {
        parameters: [{ $ref: '#/parameters/page' }],
        responses: { 200: { schema: { $ref: '#/definitions/Y' } } },
      },
    },
  },
  definitions: {
    Y: {
      properties: {
        metadata: { $ref: '#/definitions/ObjectMeta' },
        status: { $ref: '#/definitions/Status' },
      },
    },
    ObjectMeta: { type: 'object', properties: { name: { type: 'integer' } } },
    Status: { type: 'object', [kinds]: [{ group: 'b', version: 'v1', kind: 'Status' }] },
  },
  parameters: { page: { name: 'page', in: 'header' } },
}

describe('mergeOpenApiV2', () => {
  it('keeps own paths, renames what differs, and joins the kinds of equal definitions', () => {
    assert.deepEqual(collectMembers(mergeOpenApiV2(own, [other])), {
      swagger: '2.0',
      paths: {
        '/apis/a/v1/x': { get: {} },
        '/apis/b/v1/y': {
          get: {
            parameters: [{ $ref: '#/parameters/page_v2' }],
            responses: { 200: { schema: { $ref: '#/definitions/Y' } } },
          },
        },
      },
      definitions: {
        ObjectMeta: meta,
        Status: {
          type: 'object',
          [kinds]: [
            { group: '', version: 'v1', kind: 'Status' },
            { group: 'b', version: 'v1', kind: 'Status' },
          ],
        },
        Y: {
          properties: {
            metadata: { $ref: '#/definitions/ObjectMeta_v2' },
            status: { $ref: '#/definitions/Status' },
          },
        },
        ObjectMeta_v2: { type: 'object', properties: { name: { type: 'integer' } } },
      },
      parameters: { page: { name: 'page', in: 'query' }, page_v2: { name: 'page', in: 'header' } },
    })
  })

  it('uses a definition that was renamed before again', () => {
    const third = { ...other, paths: { '/apis/c/v1/z': { get: { $ref: '#/definitions/ObjectMeta' } } } }
    const merged = collectMembers(mergeOpenApiV2(own, [other, third])) as unknown as {
      paths: Record<string, unknown>
      definitions: Record<string, unknown>
    }
    assert.deepEqual(merged.paths['/apis/c/v1/z'], { get: { $ref: '#/definitions/ObjectMeta_v2' } })
    assert.deepEqual(Object.keys(merged.definitions), ['ObjectMeta', 'Status', 'Y', 'ObjectMeta_v2', 'Y_v2'])
  })

  it('adds nothing of a server all of whose paths are taken', () => {
    const taken = { ...other, paths: { '/apis/a/v1/x': {} } }
    assert.deepEqual(collectMembers(mergeOpenApiV2(own, [taken])), collectMembers(own))
  })
})

describe('filterOpenApiV2', () => {
  const document = { swagger: '2.0', ...other, definitions: { ...other.definitions, Unused: {} } }

  it('keeps the paths below a prefix and what they refer to', () => {
    const { paths, definitions, parameters } = filterOpenApiV2(document, '/apis/b/v1/')
    assert.deepEqual(Object.keys(paths), ['/apis/b/v1/y'])
    assert.deepEqual(Object.keys(definitions).sort(), ['ObjectMeta', 'Status', 'Y'])
    assert.deepEqual(Object.keys(parameters), ['page'])
  })

  it('ends with definitions that refer to each other, and ignores references to nothing', () => {
    const definitions = { A: { $ref: '#/definitions/B' }, B: { $ref: '#/definitions/A' } }
    const paths = { '/p': { a: { $ref: '#/definitions/A' }, b: { $ref: '#/definitions/__proto__' } } }
    const filtered = filterOpenApiV2({ swagger: '2.0', paths, definitions }, '/')
    assert.deepEqual(Object.keys(filtered.definitions), ['A', 'B'])
  })

  it('rejects what is not such a document, or too deep', () => {
    for (const bad of [
      null,
      [],
      'x',
      {},
      { swagger: '2.0', paths: [] },
      { swagger: '2.0', paths: { '/p': 'x' } },
    ])
      assert.throws(() => filterOpenApiV2(bad, '/'))
    let deep: unknown = {}
    for (let i = 0; i < 300; i++) deep = { properties: { x: deep } }
    assert.throws(() => filterOpenApiV2({ swagger: '2.0', paths: { '/p': deep } }, '/'), /nested too deeply/)
  })
})
