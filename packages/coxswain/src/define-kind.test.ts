import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { isStatusError } from '@coxswain/apimachinery/status'
import { startCluster } from '@coxswain/testing'
import { defineKind, defineOperator, field, s } from './index.ts'

const Ship = defineKind({
  group: 'example.com',
  kind: 'Ship',
  versions: {
    v1: {
      storage: true,
      spec: s
        .object({
          name: s.string({ maxLength: 20 }),
          crew: s.int32({ minimum: 1 }).default(3),
          boats: s.int32().default(1),
          sailsAt: s.time().optional(),
          port: s.string({ maxLength: 20 }).immutable().optional(),
        })
        .cel('self.boats <= self.crew', { message: 'a boat needs crew', fieldPath: '.boats' }),
    },
    v1alpha1: { spec: s.object({ title: s.string() }) },
    v1beta1: { spec: s.object({ label: s.string() }) },
  },
  conversions: {
    v1alpha1: {
      v1: {
        to: old => ({ spec: { name: old.spec.title, crew: 3, boats: 1 } }),
        from: now => ({ spec: { title: now.spec.name } }),
      },
    },
    v1beta1: {
      v1: {
        to: old => ({ spec: { name: old.spec.label, crew: 3, boats: 1 } }),
        from: now => ({ spec: { label: now.spec.name } }),
      },
    },
  },
})

const fleet = defineOperator('fleet', operator => {
  operator
    .controller('ship')
    .for(Ship.v1)
    .reconcile(() => {})
})

const ship = (spec: object, name = 'pequod') => ({ metadata: { name, namespace: 'default' }, spec }) as never

describe('a defined kind', () => {
  it('says about an object what a server says', async () => {
    await using cluster = await startCluster()
    await cluster.install(fleet)
    cluster.start(fleet)
    await cluster.settle()
    const objects = [
      ship({ name: 'Pequod' }),
      ship({ name: 'Pequod', crew: 0 }),
      ship({ name: 'Pequod', crew: 1, boats: 2 }),
      ship({ name: 'Pequod', sailsAt: 'soon' }),
      ship({ name: 1 }),
      ship({}),
      ship({ name: 'Pequod' }, 'Not A Name'),
    ]
    for (const object of objects) {
      const local = Ship.v1.validate(object).map(field.formatFieldError)
      const remote = await cluster.client.create(Ship.v1, object, { dryRun: true }).then(
        () => '',
        error => {
          assert.ok(isStatusError(error), String(error))
          return error.message
        },
      )
      if (remote === '') assert.deepEqual(local, [])
      else {
        const said = remote.slice(remote.indexOf(' is invalid: ') + ' is invalid: '.length)
        assert.equal(said, local.length === 1 ? local[0] : `[${local.join(', ')}]`)
      }
    }
  })

  it('compares an update with the old object', () => {
    const old = {
      metadata: { name: 'pequod' },
      spec: { name: 'Pequod', crew: 3, boats: 1, port: 'Nantucket' },
    }
    const moved = { ...old, spec: { ...old.spec, port: 'Boston' } }
    const { port: _, ...rest } = old.spec
    assert.deepEqual(Ship.v1.validate(old, old), [])
    assert.deepEqual(Ship.v1.validate(moved, old).map(field.formatFieldError), [
      'spec.port: Invalid value: "Boston": field is immutable',
    ])
    assert.deepEqual(Ship.v1.validate({ ...old, spec: rest }, old).map(field.formatFieldError), [
      'spec: Invalid value: field port is immutable once set',
    ])
  })

  it('defaults and prunes as a server does, and leaves the object as it was', () => {
    const given = { metadata: { name: 'pequod' }, spec: { name: 'Pequod', unknown: true } }
    assert.deepEqual(Ship.v1.default(given), {
      apiVersion: 'example.com/v1',
      kind: 'Ship',
      metadata: { name: 'pequod' },
      spec: { name: 'Pequod', crew: 3, boats: 1 },
    })
    assert.equal('crew' in given.spec, false)
  })

  it('converts in a cluster, through its hub', async () => {
    await using cluster = await startCluster()
    await cluster.install(fleet)
    cluster.start(fleet)
    await cluster.settle()
    const { client } = cluster
    await client.create(Ship.v1alpha1, {
      metadata: { name: 'pequod', namespace: 'default' },
      spec: { title: 'Pequod' },
    })
    const key = { name: 'pequod', namespace: 'default' }
    assert.equal((await client.get(Ship.v1, key))?.spec.name, 'Pequod')
    assert.equal((await client.get(Ship.v1beta1, key))?.spec.label, 'Pequod')
  })

  it('refuses conversions that do not connect its versions', () => {
    const one = s.object({ a: s.string() })
    const identity = {
      to: (object: { spec: { a: string } }) => ({ spec: object.spec }),
      from: (object: { spec: { a: string } }) => ({ spec: object.spec }),
    }
    assert.throws(
      () =>
        defineKind({
          group: 'example.com',
          kind: 'Ship',
          versions: { v1: { storage: true, spec: one }, v2: { spec: one }, v3: { spec: one } },
          conversions: { v1: { v2: identity } },
        }),
      /Ship\.example\.com: conversions: there is none between v1 and v3/,
    )
  })
})
