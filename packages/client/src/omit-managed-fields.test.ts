import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { decodeJson } from './json.ts'
import { findManagedFields } from './omit-managed-fields.ts'

const managedFields = [
  { manager: 'a "quoted" \\', fieldsV1: { 'f:spec': { 'k:{"name":"web"}': { '.': {} }, 'v:"]}"': {} } } },
]

const eventOf = (metadata: object, rest: object = {}) => ({
  type: 'ADDED',
  object: { kind: 'Pod', apiVersion: 'v1', metadata, ...rest },
})

describe('managedFields of an event', () => {
  const encode = (text: string) => new TextEncoder().encode(text)
  const cut = (event: object) => {
    const bytes = encode(JSON.stringify(event))
    return decodeJson(bytes, { omit: findManagedFields(bytes) })
  }

  it('are left out wherever they stand in metadata', () => {
    const others = { name: 'a', annotations: { text: '{[","managedFields":[' } }
    const expected = eventOf(others, { spec: { a: [1] } })
    for (const metadata of [
      { ...others, managedFields },
      { managedFields, ...others },
      { name: 'a', managedFields, annotations: others.annotations },
    ]) {
      assert.deepEqual(cut(eventOf(metadata, { spec: { a: [1] } })), expected)
    }
    assert.deepEqual(cut(eventOf({ managedFields })), eventOf({}))
    assert.deepEqual(cut(eventOf({ managedFields: [], name: 'a' })), eventOf({ name: 'a' }))
  })

  it('are kept outside of the metadata of the object', () => {
    for (const event of [
      eventOf({ name: 'a' }, { spec: { template: { metadata: { managedFields } } } }),
      eventOf({ name: 'a' }, { spec: { managedFields } }),
      eventOf({ name: 'a', labels: { managedFields } }),
      eventOf({ name: 'a', 'x"managedFields': managedFields }),
      { type: 'ADDED', object: { 'x"metadata': { managedFields } } },
      { type: 'ADDED', 'x"object': { metadata: { managedFields } } },
      { type: 'ADDED', object: [{ metadata: { managedFields } }] },
      { metadata: { managedFields } },
    ]) {
      assert.equal(findManagedFields(encode(JSON.stringify(event))), undefined)
      assert.deepEqual(cut(event), event)
    }
  })

  it('are left out whatever stands around them', () => {
    const others = { name: 'Ä€😀', annotations: { text: '\\"{' }, ownerReferences: [{ name: 'b' }] }
    const rest = { spec: { text: 'Ä€😀"', number: 12345678901234567890n.toString() }, status: {} }
    assert.deepEqual(cut(eventOf({ ...others, managedFields }, rest)), eventOf(others, rest))
    assert.deepEqual(cut({ object: { ...rest, metadata: { ...others, managedFields } }, type: 'ADDED' }), {
      type: 'ADDED',
      object: { ...rest, metadata: others },
    })
  })

  it('do not complete a truncated text', () => {
    const text = JSON.stringify(eventOf({ managedFields }))
    for (let end = 0; end < text.length; end++) {
      const bytes = encode(text.slice(0, end))
      assert.throws(() => decodeJson(bytes, { omit: findManagedFields(bytes) }), { code: 'BadAnswer' })
    }
  })
})
