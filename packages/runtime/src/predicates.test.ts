import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { ApiObject, ObjectMeta } from '@coxswain/apimachinery/meta'
import {
  and,
  annotationsChanged,
  generationChanged,
  hasLabels,
  labelsChanged,
  not,
  type ObjectEvent,
  or,
  ownersOf,
  type Predicate,
  resourceVersionChanged,
} from './index.ts'
import { widgetKind } from './test-support/simulation.ts'

const object = (metadata: Partial<ObjectMeta> = {}): ApiObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'a', uid: 'u', resourceVersion: '1', creationTimestamp: '', generation: 1, ...metadata },
})
const update = (metadata: Partial<ObjectMeta>, isResync = false): ObjectEvent => ({
  type: 'update',
  old: object(),
  object: object(metadata),
  isResync,
})
const creation: ObjectEvent = { type: 'create', object: object(), isInInitialList: false }
const deletion: ObjectEvent = { type: 'delete', object: object(), finalStateUnknown: false }

describe('predicates', () => {
  const byUpdate: [string, Predicate, Partial<ObjectMeta>, Partial<ObjectMeta>][] = [
    ['generationChanged', generationChanged, { generation: 2 }, { resourceVersion: '2', labels: { a: 'b' } }],
    ['labelsChanged', labelsChanged, { labels: { a: 'b' } }, { generation: 2, labels: {} }],
    ['annotationsChanged', annotationsChanged, { annotations: { a: 'b' } }, { labels: { a: 'b' } }],
    ['resourceVersionChanged', resourceVersionChanged, { resourceVersion: '2' }, {}],
  ]
  for (const [name, predicate, matters, doesNot] of byUpdate) {
    it(`${name} filters updates only`, () => {
      assert.equal(predicate(update(matters)), true)
      assert.equal(predicate(update(doesNot)), false)
      assert.equal(predicate(creation), true)
      assert.equal(predicate(deletion), true)
    })
  }

  it('pass resyncs, except resourceVersionChanged', () => {
    assert.equal(generationChanged(update({}, true)), true)
    assert.equal(resourceVersionChanged(update({}, true)), false)
  })

  it('combine', () => {
    const gold = hasLabels({ tier: 'gold' })
    const event = update({ labels: { tier: 'gold', app: 'x' } })
    assert.equal(gold(event), true)
    assert.equal(hasLabels({ tier: 'gold', app: 'y' })(event), false)
    assert.equal(and(gold, generationChanged)(event), false)
    assert.equal(or(gold, generationChanged)(event), true)
    assert.equal(not(gold)(event), false)
  })
})

describe('finding owners', () => {
  const owner = (name: string, more: object = {}) => ({
    apiVersion: 'example.com/v1',
    kind: 'Widget',
    name,
    uid: name,
    ...more,
  })
  const owned = object({
    namespace: 'ns',
    ownerReferences: [
      owner('a', { controller: true }),
      owner('b'),
      owner('c', { controller: true, kind: 'Gadget' }),
    ],
  })

  it('finds the owner that is marked as controller, or all', () => {
    const lookup = {} as never
    assert.deepEqual(ownersOf(widgetKind)(owned, lookup), [{ namespace: 'ns', name: 'a' }])
    const all = ownersOf(widgetKind, { everyOwner: true })(owned, lookup)
    assert.deepEqual(
      all.map(({ name }) => name),
      ['a', 'b'],
    )
  })

  it('finds cluster-scoped owners, and ignores malformed references', () => {
    const lookup = {} as never
    assert.deepEqual(ownersOf({ ...widgetKind, namespaced: false })(owned, lookup), [{ name: 'a' }])
    const broken = object({ ownerReferences: [owner('x', { controller: true, apiVersion: 'a/b/c' })] })
    assert.deepEqual(ownersOf(widgetKind)(broken, lookup), [])
  })
})
