import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { PlainObject } from '../json/plain.ts'
import { deepClone } from '../json/value.ts'
import type { ManagedFieldsEntry } from '../meta/meta.ts'
import type { Schema } from '../schema/schema.ts'
import { isBadRequest, isConflict } from '../status/predicates.ts'
import { isStatusError } from '../status/status-error.ts'
import { readSchemas } from '../test-support/fixtures.ts'
import { createFieldManager, type FieldManager, type FieldManagerOptions } from './field-manager.ts'

const schemas = readSchemas()

/** A manager of one kind whose clock ticks once an operation. */
function managerOf(kind: string, apiVersion: string, more: Partial<FieldManagerOptions> = {}): FieldManager {
  let seconds = 0
  return createFieldManager({
    apiVersion,
    kind,
    schema: schemas.get(kind)!,
    now: () => `2024-01-01T00:00:${String(seconds++).padStart(2, '0')}Z`,
    ...more,
  })
}

function configMap(data: PlainObject, metadata: PlainObject = {}): PlainObject {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'x', ...metadata }, data }
}

function stored(object: PlainObject): PlainObject {
  return { ...object, metadata: { ...(object.metadata as PlainObject), uid: 'u' } }
}

function entries(object: PlainObject): ManagedFieldsEntry[] {
  return ((object.metadata as PlainObject).managedFields ?? []) as ManagedFieldsEntry[]
}

function ownersOf(object: PlainObject): Record<string, unknown> {
  return Object.fromEntries(
    entries(object).map(entry => [`${entry.manager}/${entry.operation}`, entry.fieldsV1]),
  )
}

describe('a field manager', () => {
  it('gives the creator what the object did not have before, never its identity', () => {
    const fields = managerOf('ConfigMap', 'v1')
    const created = fields.update({
      live: undefined,
      next: configMap({ a: '1' }, { namespace: 'n', labels: { l: 'x' } }),
      manager: 'alice',
    })
    assert.deepEqual(entries(created), [
      {
        manager: 'alice',
        operation: 'Update',
        apiVersion: 'v1',
        time: '2024-01-01T00:00:00Z',
        fieldsType: 'FieldsV1',
        fieldsV1: { 'f:data': { '.': {}, 'f:a': {} }, 'f:metadata': { 'f:labels': { '.': {}, 'f:l': {} } } },
      },
    ])
  })

  it('does not give the creator what every object of the type has', () => {
    const emptyObject = {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: {},
      spec: {},
      status: { loadBalancer: {} },
    }
    const fields = managerOf('Service', 'v1', { emptyObject })
    const next = { apiVersion: 'v1', kind: 'Service', metadata: { name: 'x' }, spec: { type: 'ClusterIP' } }
    assert.deepEqual(ownersOf(fields.update({ live: undefined, next, manager: 'm' })), {
      'm/Update': { 'f:spec': { 'f:type': {} } },
    })
  })

  it('moves a changed field to the manager that changed it, and keeps time and entries when nothing changes', () => {
    const fields = managerOf('ConfigMap', 'v1')
    const live = stored(
      fields.update({ live: undefined, next: configMap({ a: '1', b: '1' }), manager: 'alice' }),
    )
    const next = stored(configMap({ a: '2', b: '1' }))
    const changed = fields.update({ live, next, manager: 'bob' })
    assert.deepEqual(ownersOf(changed), {
      'alice/Update': { 'f:data': { '.': {}, 'f:b': {} } },
      'bob/Update': { 'f:data': { 'f:a': {} } },
    })
    const same = fields.update({
      live: changed,
      next: stored(configMap({ a: '2', b: '1' })),
      manager: 'carol',
    })
    assert.equal(
      (same.metadata as PlainObject).managedFields,
      (changed.metadata as PlainObject).managedFields,
    )
  })

  it('takes managedFields from the client only if it sends some, and drops them on an empty list', () => {
    const fields = managerOf('ConfigMap', 'v1')
    const live = stored(fields.update({ live: undefined, next: configMap({ a: '1' }), manager: 'alice' }))
    const send = (managedFields: unknown): PlainObject =>
      fields.update({ live, next: stored(configMap({ a: '1' }, { managedFields })), manager: 'bob' })
    assert.deepEqual(Object.keys(ownersOf(send(undefined))), ['alice/Update'])
    assert.deepEqual(Object.keys(ownersOf(send(null))), ['alice/Update'])
    assert.deepEqual(Object.keys(ownersOf(send([{ operation: 'Odd' }]))), ['alice/Update'])
    assert.deepEqual(ownersOf(send([])), {})
    assert.deepEqual(ownersOf(send([{}])), {})
    const own = [
      {
        manager: 'z',
        operation: 'Apply',
        apiVersion: 'v1',
        fieldsType: 'FieldsV1',
        fieldsV1: { 'f:data': { 'f:a': {} } },
      },
    ]
    assert.deepEqual(ownersOf(send(own)), { 'z/Apply': { 'f:data': { 'f:a': {} } } })
  })

  it('ignores fields that a request cannot change, by subresource', () => {
    const resetFields: FieldManagerOptions['resetFields'] = subresource =>
      subresource === 'status' ? { only: ['status'] } : { reset: ['status'] }
    const fields = managerOf('Thing', 'example.com/v1', { resetFields })
    const base = { apiVersion: 'example.com/v1', kind: 'Thing', metadata: { name: 'x' } }
    const live = stored(
      fields.update({
        live: undefined,
        next: { ...base, spec: { text: 'a' }, status: { phase: 'p' } },
        manager: 'm',
      }),
    )
    assert.deepEqual(ownersOf(live), { 'm/Update': { 'f:spec': { '.': {}, 'f:text': {} } } })
    const next = stored({ ...base, spec: { text: 'b' }, status: { phase: 'q' } })
    const written = fields.update({ live, next, manager: 'm', subresource: 'status' })
    assert.deepEqual(
      entries(written).map(entry => [entry.subresource, entry.fieldsV1]),
      [
        [undefined, { 'f:spec': { '.': {}, 'f:text': {} } }],
        ['status', { 'f:status': { 'f:phase': {} } }],
      ],
    )
  })

  it('merges the oldest of more than ten updaters into ancient-changes', () => {
    const fields = managerOf('ConfigMap', 'v1')
    let live: PlainObject | undefined
    const data: PlainObject = {}
    for (let i = 0; i < 12; i++) {
      data[`k${i}`] = 'x'
      live = stored(fields.update({ live, next: stored(configMap({ ...data })), manager: `m${i}` }))
      if (i === 0) live = stored(live)
    }
    const names = entries(live!).map(entry => entry.manager)
    assert.equal(names.length, 10)
    assert.equal(names[0], 'ancient-changes')
    assert.deepEqual(entries(live!)[0]!.fieldsV1, {
      'f:data': { '.': {}, 'f:k0': {}, 'f:k1': {}, 'f:k2': {} },
    })
  })
})

describe('server-side apply', () => {
  const deployment = (spec: PlainObject): PlainObject => ({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'web' },
    spec,
  })

  it('answers a conflict with the owners of the fields, and takes them over when forced', () => {
    const fields = managerOf('Deployment', 'apps/v1')
    const live = stored(fields.update({ live: undefined, next: deployment({ replicas: 3 }), manager: 'hpa' }))
    const request = { live, patch: deployment({ replicas: 5 }), manager: 'me' }
    assert.throws(
      () => fields.apply(request),
      error => {
        assert.ok(isStatusError(error) && isConflict(error))
        assert.equal(
          error.message,
          'Apply failed with 1 conflict: conflict with "hpa" using apps/v1: .spec.replicas',
        )
        assert.deepEqual(error.status.details?.causes, [
          {
            reason: 'FieldManagerConflict',
            message: 'conflict with "hpa" using apps/v1',
            field: '.spec.replicas',
          },
        ])
        return true
      },
    )
    const forced = fields.apply({ ...request, force: true })
    assert.equal((forced.spec as PlainObject).replicas, 5)
    assert.deepEqual(ownersOf(forced), {
      'me/Apply': { 'f:spec': { 'f:replicas': {} } },
      'hpa/Update': { 'f:spec': {} },
    })
  })

  it('lists the conflicts with several managers', () => {
    const fields = managerOf('ConfigMap', 'v1')
    let live = stored(
      fields.apply({ live: undefined, patch: configMap({ a: '1', b: '1' }), manager: 'alice' }),
    )
    live = fields.update({ live, next: stored(configMap({ a: '1', b: '1', c: '1' })), manager: 'bob' })
    assert.throws(() => fields.apply({ live, patch: configMap({ a: '2', b: '2', c: '2' }), manager: 'me' }), {
      message: [
        'Apply failed with 3 conflicts: conflicts with "alice":',
        '- .data.a',
        '- .data.b',
        'conflicts with "bob" using v1:',
        '- .data.c',
      ].join('\n'),
    })
  })

  it('shares a field that two managers apply with the same value, and removes it when both drop it', () => {
    const fields = managerOf('ConfigMap', 'v1')
    let live = stored(
      fields.apply({ live: undefined, patch: configMap({ a: '1', b: '1' }), manager: 'alice' }),
    )
    live = fields.apply({ live, patch: configMap({ a: '1' }), manager: 'bob' })
    assert.equal(entries(live).find(entry => entry.manager === 'bob')?.time, undefined)
    live = fields.apply({ live, patch: configMap({ b: '1' }), manager: 'alice' })
    assert.deepEqual(live.data, { a: '1', b: '1' })
    live = fields.apply({ live, patch: configMap({}), manager: 'bob' })
    assert.deepEqual(live.data, { b: '1' })
  })

  it('merges list elements by their keys, defaults of keys included, and removes those no longer applied', () => {
    const fields = managerOf('Service', 'v1')
    const service = (ports: unknown[]): PlainObject => ({
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'x' },
      spec: { ports },
    })
    let live = stored(
      fields.apply({ live: undefined, patch: service([{ port: 80, name: 'a' }]), manager: 'me' }),
    )
    const udp = { port: 80, protocol: 'UDP' }
    live = fields.apply({ live, patch: service([udp]), manager: 'dns' })
    assert.deepEqual((live.spec as PlainObject).ports, [{ port: 80, name: 'a' }, udp])
    assert.deepEqual(ownersOf(live)['me/Apply'], {
      'f:spec': { 'f:ports': { 'k:{"port":80,"protocol":"TCP"}': { '.': {}, 'f:name': {}, 'f:port': {} } } },
    })
    live = fields.apply({ live, patch: service([]), manager: 'me' })
    assert.deepEqual((live.spec as PlainObject).ports, [udp])
  })

  it('keeps entry, time and object when the same configuration is applied again', () => {
    const fields = managerOf('Deployment', 'apps/v1')
    const patch = deployment({ replicas: 1, template: { spec: { containers: [{ name: 'a', image: 'i' }] } } })
    const live = stored(fields.apply({ live: undefined, patch, manager: 'me' }))
    const again = fields.apply({ live, patch: deepClone(patch), manager: 'me' })
    assert.deepEqual(again, live)
    assert.equal(again.spec, live.spec)
  })

  it('assigns fields from before the first apply to before-first-apply', () => {
    const fields = managerOf('ConfigMap', 'v1')
    const live = stored(configMap({ a: '1' }))
    const applied = fields.apply({ live, patch: configMap({ b: '1' }), manager: 'me' })
    assert.deepEqual(ownersOf(applied), {
      'me/Apply': { 'f:data': { 'f:b': {} } },
      'before-first-apply/Update': { 'f:data': { '.': {}, 'f:a': {} } },
    })
  })

  it('takes over from client-side apply without conflicts, and keeps its annotation up to date', () => {
    const fields = managerOf('ConfigMap', 'v1')
    const annotation = 'kubectl.kubernetes.io/last-applied-configuration'
    const annotations = { [annotation]: JSON.stringify(configMap({ a: '1' })) }
    const next = configMap({ a: '1' }, { annotations })
    const live = stored(fields.update({ live: undefined, next, manager: 'kubectl-client-side-apply' }))
    const applied = fields.apply({ live, patch: configMap({ a: '2' }), manager: 'kubectl' })
    assert.deepEqual(applied.data, { a: '2' })
    const text = (applied.metadata as { annotations: Record<string, string> }).annotations[annotation]
    assert.equal(text, '{"apiVersion":"v1","data":{"a":"2"},"kind":"ConfigMap","metadata":{"name":"x"}}\n')
    assert.throws(() => fields.apply({ live, patch: configMap({ a: '2' }), manager: 'other' }), isConflict)
  })

  it('follows a field through versions, and drops managers of removed versions', () => {
    const rename = (object: PlainObject, from: string, to: string, apiVersion: string): PlainObject => {
      const { [from]: value, ...spec } = (object.spec ?? {}) as PlainObject
      return { ...object, apiVersion, spec: value === undefined ? spec : { ...spec, [to]: value } }
    }
    const thing = (version: string, spec: PlainObject): PlainObject => ({
      apiVersion: `example.com/${version}`,
      kind: 'Thing',
      metadata: { name: 'x' },
      spec,
    })
    const v1 = managerOf('Thing', 'example.com/v1')
    const v2 = managerOf('Thing', 'example.com/v2', {
      schema: schemas.get('Thing/v2') as Schema,
      versions: {
        schemaOf: version => (version === 'example.com/v1' ? schemas.get('Thing') : undefined),
        convert: (object, version) =>
          version === 'example.com/v1'
            ? rename(object, 'size', 'replicas', version)
            : rename(object, 'replicas', 'size', version),
      },
    })
    const live = stored(v1.apply({ live: undefined, patch: thing('v1', { replicas: 1 }), manager: 'old' }))
    const asV2 = rename(live, 'replicas', 'size', 'example.com/v2')
    assert.throws(() => v2.apply({ live: asV2, patch: thing('v2', { size: 2 }), manager: 'new' }), {
      message: 'Apply failed with 1 conflict: conflict with "old": .spec.replicas',
    })
    const dropped = v2.apply({ live: asV2, patch: thing('v2', { text: 'x' }), manager: 'old' })
    assert.deepEqual(dropped.spec, { text: 'x' })
    const alone = managerOf('Thing', 'example.com/v2', { schema: schemas.get('Thing/v2') as Schema })
    const taken = alone.apply({ live: asV2, patch: thing('v2', { size: 2 }), manager: 'new' })
    assert.deepEqual(Object.keys(ownersOf(taken)), ['new/Apply'])
  })

  it('rejects a configuration that does not match the schema, with 400 and the path', () => {
    const fields = managerOf('Deployment', 'apps/v1')
    const refusal = (patch: PlainObject): string => {
      try {
        fields.apply({ live: undefined, patch, manager: 'me' })
      } catch (error) {
        assert.ok(isStatusError(error) && isBadRequest(error))
        return error.message
      }
      return 'applied'
    }
    const subject = 'failed to create typed patch object (/web; apps/v1, Kind=Deployment)'
    assert.equal(refusal({ ...deployment({}), zzz: 1 }), `${subject}: .zzz: field not declared in schema`)
    assert.equal(
      refusal(deployment({ replicas: 'x' })),
      `${subject}: .spec.replicas: expected numeric (int or float), got string`,
    )
    const twice = { template: { spec: { containers: [{ name: 'a' }, { name: 'a' }] } } }
    assert.equal(
      refusal(deployment(twice)),
      `${subject}: .spec.template.spec.containers: duplicate entries for key [name="a"]`,
    )
    assert.equal(refusal({ ...deployment({}), kind: 'Pod' }), 'invalid object type: apps/v1, Kind=Pod')
    assert.equal(
      refusal({ ...deployment({}), metadata: { name: 'web', managedFields: [] } }),
      'metadata.managedFields must be nil',
    )
    const equal = Array.from({ length: 50_000 }, () => ({ name: 'a' }))
    const many = refusal(deployment({ template: { spec: { containers: equal } } })).split('\n')
    assert.equal(many.length, 1002)
    assert.equal(many.at(-1), '  too many errors: only the first 1000 are reported')
  })

  it('never changes its inputs and treats __proto__ as an ordinary key', () => {
    const fields = managerOf('ConfigMap', 'v1')
    const patch = configMap(JSON.parse('{"__proto__":"x","a":"1"}') as PlainObject)
    const before = JSON.stringify(patch)
    const live = stored(fields.apply({ live: undefined, patch, manager: 'me' }))
    const text = JSON.stringify(live)
    const next = fields.apply({ live, patch: configMap({ a: '1' }), manager: 'me' })
    assert.equal(JSON.stringify(patch), before)
    assert.equal(JSON.stringify(live), text)
    assert.equal(JSON.stringify(live.data), '{"__proto__":"x","a":"1"}')
    assert.equal(JSON.stringify(next.data), '{"a":"1"}')
  })

  it('knows the metadata of an object whose schema does not describe it', () => {
    const schema: Schema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }
    const fields = managerOf('Planet', 'example.com/v1', { schema })
    const planet = (metadata: PlainObject): PlainObject => ({
      apiVersion: 'example.com/v1',
      kind: 'Planet',
      metadata: { name: 'x', ...metadata },
      any: { thing: [1] },
    })
    const owner = (uid: string): PlainObject => ({ apiVersion: 'v1', kind: 'K', name: 'o', uid })
    const first = planet({ labels: { a: '1' }, ownerReferences: [owner('1')] })
    const live = stored(fields.apply({ live: undefined, patch: first, manager: 'a' }))
    assert.deepEqual(ownersOf(live)['a/Apply'], {
      'f:any': { '.': {}, 'f:thing': {} },
      'f:metadata': { 'f:labels': { 'f:a': {} }, 'f:ownerReferences': { 'k:{"uid":"1"}': {} } },
    })
    const next = fields.apply({ live, patch: planet({ ownerReferences: [owner('2')] }), manager: 'b' })
    assert.deepEqual((next.metadata as PlainObject).ownerReferences, [owner('1'), owner('2')])
  })

  it('defaults a required key that a built-in element omits to its zero value', () => {
    const element: Schema = {
      name: 'io.k8s.X',
      type: 'object',
      properties: { id: { type: 'integer' } },
      required: ['id'],
    }
    const list = (items: Schema): Schema => ({
      type: 'object',
      properties: {
        list: { type: 'array', items, 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['id'] },
      },
    })
    const object = { apiVersion: 'v1', kind: 'X', metadata: { name: 'x' }, list: [{}] }
    const builtIn = managerOf('X', 'v1', { schema: list(element) })
    assert.deepEqual(ownersOf(builtIn.apply({ live: undefined, patch: object, manager: 'm' })), {
      'm/Apply': { 'f:list': { 'k:{"id":0}': {} } },
    })
    const { name: _name, ...anonymous } = element
    const custom = managerOf('X', 'v1', { schema: list(anonymous) })
    assert.throws(
      () => custom.apply({ live: undefined, patch: object, manager: 'm' }),
      /omits all key fields \["id"\]/,
    )
  })

  it('takes linear time for a large map', () => {
    const fields = managerOf('ConfigMap', 'v1')
    const data = (value: string): PlainObject =>
      Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`key-${i}`, value]))
    const live = stored(fields.apply({ live: undefined, patch: configMap(data('a')), manager: 'me' }))
    const started = process.cpuUsage().user
    const taken = fields.apply({ live, patch: configMap(data('b')), manager: 'other', force: true })
    fields.apply({ live: taken, patch: configMap({}), manager: 'other' })
    const seconds = (process.cpuUsage().user - started) / 1_000_000
    assert.ok(seconds < 5, 'a copy of the set for each key would take minutes')
  })

  it('turns ownership of parts into ownership of the whole when a type becomes atomic', () => {
    const schemaWith = (mapType: 'atomic' | 'granular'): Schema => ({
      type: 'object',
      properties: {
        spec: {
          type: 'object',
          properties: {
            m: { type: 'object', additionalProperties: { type: 'string' }, 'x-kubernetes-map-type': mapType },
          },
        },
      },
    })
    const object = (m: PlainObject): PlainObject => ({
      apiVersion: 'example.com/v1',
      kind: 'Odd',
      metadata: { name: 'x' },
      spec: { m },
    })
    const before = managerOf('Odd', 'example.com/v1', { schema: schemaWith('granular') })
    const after = managerOf('Odd', 'example.com/v1', { schema: schemaWith('atomic') })
    const live = stored(before.apply({ live: undefined, patch: object({ a: '1' }), manager: 'me' }))
    const next = after.update({ live, next: stored(object({ a: '2' })), manager: 'other' })
    assert.deepEqual(ownersOf(next), { 'other/Update': { 'f:spec': { 'f:m': {} } } })
  })
})
