import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { CustomResourceDefinition } from '@coxswain/api/apiextensions/v1'
import { ControllerRevision } from '@coxswain/api/apps/v1'
import { Node } from '@coxswain/api/core/v1'
import { EndpointSlice } from '@coxswain/api/discovery/v1'
import { CSINode } from '@coxswain/api/storage/v1'
import { defineKind, type Kind, s } from '@coxswain/apimachinery/kinds'
import { dropNulls } from './drop-nulls.ts'

const dropped = (kind: Kind, value: object) => {
  dropNulls(value, kind.schema())
  return value
}

describe('null in an object of a kind', () => {
  it('means absent, as in upstream clients', () => {
    const images = [{ names: null, sizeBytes: 5 }]
    assert.deepEqual(dropped(Node, { metadata: { labels: null }, status: { images } }), {
      metadata: {},
      status: { images: [{ sizeBytes: 5 }] },
    })
    assert.deepEqual(dropped(EndpointSlice, { ports: null, endpoints: null }), {})
  })

  it('becomes an empty list for a required list', () => {
    const endpoints = [{ addresses: null, hints: null }]
    assert.deepEqual(dropped(EndpointSlice, { endpoints }), { endpoints: [{ addresses: [] }] })
    assert.deepEqual(dropped(CSINode, { spec: { drivers: null } }), { spec: { drivers: [] } })
  })

  it('stays in opaque fields', () => {
    const revision = { data: { spec: { template: null } }, revision: 1 }
    assert.deepEqual(dropped(ControllerRevision, structuredClone(revision)), revision)
    const schema = { openAPIV3Schema: { properties: { a: { default: null, enum: ['x', null] } } } }
    const definition = { spec: { versions: [{ name: 'v1', schema }] } }
    assert.deepEqual(dropped(CustomResourceDefinition, structuredClone(definition)), definition)
  })

  it('stays in nullable and unknown fields of custom kinds', () => {
    const Ship = defineKind({
      group: 'example.com',
      kind: 'Ship',
      versions: {
        v1: { spec: s.object({ cargo: s.list(s.string()).optional(), captain: s.string().nullable() }) },
      },
    } as never) as never as { readonly v1: Kind }
    const spec = { cargo: null, captain: null, other: null }
    assert.deepEqual(dropped(Ship.v1, { spec }), { spec: { captain: null, other: null } })
  })

  it('does not touch inherited members', () => {
    const value = JSON.parse('{"__proto__":null,"constructor":null,"metadata":{"labels":{"a":null}}}')
    assert.doesNotThrow(() => dropped(Node, value))
  })
})
