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
  it('set one controller, which blocks the deletion of its owner', () => {
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

  it('reject a second controller by name', () => {
    const object = pod('a')
    setControllerReference(owner('one', 'a'), object)
    assert.throws(() => setControllerReference(owner('two', 'a'), object), {
      message: 'Object a/p is already owned by another ReplicaSet controller one',
      code: 'AlreadyOwned',
    })
  })

  it('add and remove owners beside the controller', () => {
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

  it('report which namespace rule was violated', () => {
    assert.throws(() => setControllerReference(owner('rs', 'a'), pod()), {
      message: "cluster-scoped resource must not have a namespace-scoped owner, owner's namespace a",
      code: 'OwnerScope',
    })
    assert.throws(() => setOwnerReference(owner('rs', 'a'), pod('b')), {
      message: "cross-namespace owner references are disallowed, owner's namespace a, obj's namespace b",
    })
    setControllerReference(owner('node'), pod('b')) // a cluster-scoped owner may own anything
  })

  it('reject an owner that was never stored', () => {
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

  it('change their time with their status only', () => {
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

  it('that are absent are neither true nor false', () => {
    const conditions: Condition[] = [{ ...update, lastTransitionTime: '' }]
    assert.ok(isStatusConditionTrue(conditions, 'Ready'))
    assert.ok(!isStatusConditionTrue(conditions, 'Other') && !isStatusConditionFalse(conditions, 'Other'))
    assert.ok(!isStatusConditionFalse(undefined, 'Other'))
    assert.ok(removeStatusCondition(conditions, 'Ready'))
    assert.deepEqual(conditions, [])
  })
})
