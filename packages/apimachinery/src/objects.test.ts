/** Owner references, conditions, and access by path. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  isStatusConditionFalse,
  isStatusConditionTrue,
  removeStatusCondition,
  setStatusCondition,
} from './conditions.ts'
import type { Condition } from './meta.ts'
import {
  getControllerOf,
  hasOwnerReference,
  isControlledBy,
  type Owned,
  removeOwnerReference,
  setControllerReference,
  setOwnerReference,
} from './owner-references.ts'
import {
  nestedArray,
  nestedField,
  nestedInteger,
  nestedString,
  nestedStringMap,
  removeNestedField,
  setNestedField,
} from './unstructured.ts'

function owner(name: string, namespace?: string, uid = `uid-${name}`) {
  return {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: { name, uid, ...(namespace && { namespace }) },
  }
}

function pod(namespace?: string): Owned {
  return { metadata: { name: 'p', ...(namespace && { namespace }) } }
}

describe('owner references', () => {
  it('make one controller, which blocks the deletion of its owner', () => {
    const object = pod('a')
    setControllerReference(owner('rs', 'a'), object)
    setControllerReference(owner('rs', 'a', 'new-uid'), object)
    assert.deepEqual(object.metadata.ownerReferences, [
      {
        apiVersion: 'apps/v1',
        kind: 'ReplicaSet',
        name: 'rs',
        uid: 'new-uid',
        controller: true,
        blockOwnerDeletion: true,
      },
    ])
    assert.ok(isControlledBy(object, owner('rs', 'a', 'new-uid')))
    assert.ok(!isControlledBy(object, owner('rs', 'a')))
  })

  it('refuse a second controller by name', () => {
    const object = pod('a')
    setControllerReference(owner('one', 'a'), object)
    assert.throws(() => setControllerReference(owner('two', 'a'), object), {
      message: 'Object a/p is already owned by another ReplicaSet controller one',
      code: 'AlreadyOwned',
    })
  })

  it('add owners beside the controller and take them away', () => {
    const object = pod('a')
    setControllerReference(owner('one', 'a'), object)
    setOwnerReference(owner('two', 'a'), object)
    assert.equal(getControllerOf(object)?.name, 'one')
    assert.ok(hasOwnerReference(owner('two', 'a'), object))
    assert.ok(removeOwnerReference(owner('two', 'a'), object))
    assert.ok(!removeOwnerReference(owner('two', 'a'), object))
    assert.ok(removeOwnerReference(owner('one', 'a'), object))
    assert.ok(!('ownerReferences' in object.metadata))
  })

  it('say which rule about namespaces was broken', () => {
    assert.throws(() => setControllerReference(owner('rs', 'a'), pod()), {
      message: "cluster-scoped resource must not have a namespace-scoped owner, owner's namespace a",
      code: 'OwnerScope',
    })
    assert.throws(() => setOwnerReference(owner('rs', 'a'), pod('b')), {
      message: "cross-namespace owner references are disallowed, owner's namespace a, obj's namespace b",
    })
    setControllerReference(owner('node'), pod('b')) // a cluster-scoped owner may own anything
  })

  it('refuse an owner that was never stored', () => {
    assert.throws(
      () => setOwnerReference({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'x' } }, pod()),
      {
        message: /no uid$/,
      },
    )
  })
})

describe('conditions', () => {
  const clock = { now: () => 1_000_000_000_000 }
  const update = { type: 'Ready', status: 'True', reason: 'Ok', message: '' } as const

  it('move their time with their status only', () => {
    const conditions: Condition[] = []
    assert.ok(setStatusCondition(conditions, update, clock))
    assert.equal(conditions[0]!.lastTransitionTime, '2001-09-09T01:46:40Z')
    const later = { now: () => 2_000_000_000_000 }
    assert.ok(!setStatusCondition(conditions, update, later))
    assert.ok(setStatusCondition(conditions, { ...update, reason: 'Better', observedGeneration: 2 }, later))
    assert.equal(conditions[0]!.lastTransitionTime, '2001-09-09T01:46:40Z')
    assert.ok(setStatusCondition(conditions, { ...update, status: 'False' }, later))
    assert.equal(conditions[0]!.lastTransitionTime, '2033-05-18T03:33:20Z')
    assert.ok(!('observedGeneration' in conditions[0]!))
  })

  it('that are not there are neither true nor false', () => {
    const conditions: Condition[] = [{ ...update, lastTransitionTime: '' }]
    assert.ok(isStatusConditionTrue(conditions, 'Ready'))
    assert.ok(!isStatusConditionTrue(conditions, 'Other') && !isStatusConditionFalse(conditions, 'Other'))
    assert.ok(!isStatusConditionFalse(undefined, 'Other'))
    assert.ok(removeStatusCondition(conditions, 'Ready'))
    assert.deepEqual(conditions, [])
  })
})

describe('access by path', () => {
  const object = (): Record<string, unknown> => ({
    spec: { replicas: 3, big: 9007199254740993n, list: [{ name: 'a' }], nothing: null },
  })

  it('goes through objects and lists', () => {
    assert.equal(nestedString(object(), 'spec', 'list', 0, 'name'), 'a')
    assert.equal(nestedInteger(object(), 'spec', 'big'), 9007199254740993n)
    assert.equal(nestedArray(object(), 'spec', 'list')?.length, 1)
  })

  it('gives undefined for what is not there, or is below a null', () => {
    assert.equal(nestedField(object(), 'spec', 'x', 'y'), undefined)
    assert.equal(nestedField(object(), 'spec', 'nothing', 'y'), undefined)
    assert.equal(nestedField(object(), 'spec', 'list', 7, 'name'), undefined)
  })

  it('names the path and the type found where another is', () => {
    assert.throws(() => nestedString(object(), 'spec', 'replicas'), {
      message: '.spec.replicas accessor error: 3 is of the type number, expected string',
      code: 'BadFieldPath',
    })
    assert.throws(() => nestedField(object(), 'spec', 'replicas', 'x'), {
      message: '.spec.replicas accessor error: 3 is of the type number, expected object',
    })
    assert.throws(() => nestedStringMap({ labels: { 'a.b/c': 1 } }, 'labels'), {
      message: '.labels["a.b/c"] accessor error: 1 is of the type number, expected string',
    })
    assert.throws(() => nestedString(object(), 'spec', 'nothing'), { message: /is of the type null/ })
  })

  it('makes what is missing when it sets, and copies what it is given', () => {
    const target = object()
    const value = { a: [1] }
    setNestedField(target, value, 'status', 'deep', 'value')
    value.a.push(2)
    assert.deepEqual(nestedField(target, 'status', 'deep', 'value'), { a: [1] })
    setNestedField(target, 'b', 'spec', 'list', 1)
    assert.deepEqual(nestedField(target, 'spec', 'list'), [{ name: 'a' }, 'b'])
    assert.throws(() => setNestedField(target, 1, 'spec', 'list', 9), {
      message: /index 9 is not within a list of 2/,
    })
    assert.throws(() => setNestedField(target, 1, 'spec', 'replicas', 'x'), { code: 'BadFieldPath' })
  })

  it('removes members and elements', () => {
    const target = object()
    removeNestedField(target, 'spec', 'list', 0)
    removeNestedField(target, 'spec', 'nothing')
    removeNestedField(target, 'nowhere', 'x')
    assert.deepEqual(target, { spec: { replicas: 3, big: 9007199254740993n, list: [] } })
  })

  it('never reaches a prototype', () => {
    const target: Record<string, unknown> = {}
    assert.equal(nestedField(target, '__proto__', 'toString'), undefined)
    assert.equal(nestedField(target, 'constructor'), undefined)
    setNestedField(target, 'x', '__proto__', 'polluted')
    setNestedField(target, JSON.parse('{"__proto__":{"polluted":"y"}}'), 'copy')
    assert.equal(({} as Record<string, unknown>).polluted, undefined)
    assert.equal(nestedField(target, '__proto__', 'polluted'), 'x')
    assert.equal(nestedField(target, 'copy', '__proto__', 'polluted'), 'y')
    removeNestedField(target, '__proto__', 'polluted')
    assert.equal(Object.getPrototypeOf(target), Object.prototype)
  })
})
