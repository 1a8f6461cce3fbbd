import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  annotatedDesiredReplicas,
  compareRevisions,
  newReplicaSetAnnotations,
  nextRevision,
  previousRevision,
  type ReplicaSetView,
  rollbackRevision,
} from './revisions.ts'
import type { DeploymentView } from './strategy.ts'

const revision = 'deployment.kubernetes.io/revision'
const history = 'deployment.kubernetes.io/revision-history'

const setAt = (text?: string) =>
  ({ metadata: { annotations: text === undefined ? {} : { [revision]: text } } }) as unknown as ReplicaSetView
const deployment = { metadata: { annotations: { team: 'a' } } } as unknown as DeploymentView

describe('revisions of a Deployment', () => {
  it('are counted exactly beyond 2^53', () => {
    assert.equal(nextRevision([setAt('3546343826724305832'), setAt('7')]), 3546343826724305833n)
    assert.equal(
      newReplicaSetAnnotations({ [revision]: '3546343826724305832' }, deployment, 3546343826724305833n)[
        revision
      ],
      '3546343826724305833',
    )
    assert.ok(compareRevisions(setAt('9007199254740992'), setAt('9007199254740993')) < 0)
  })

  it('wrap around after the largest int64', () => {
    assert.equal(nextRevision([setAt('9223372036854775807')]), -9223372036854775808n)
  })

  it('that are not an int64 are skipped', () => {
    assert.equal(nextRevision([setAt('9223372036854775808'), setAt('x'), setAt(), setAt('4')]), 5n)
    assert.equal(nextRevision([]), 1n)
    assert.equal(
      previousRevision([setAt('x'), setAt('9007199254740993'), setAt('9007199254740992')]),
      9007199254740992n,
    )
  })

  it('that are not numbers leave the annotations of their ReplicaSet alone', () => {
    const garbage = { [revision]: 'x' }
    assert.deepEqual(newReplicaSetAnnotations(garbage, deployment, 5n), garbage)
  })

  it('that are empty count as 0 and are kept in the history', () => {
    const expected = { team: 'a', [revision]: '5', [history]: '' }
    assert.deepEqual(newReplicaSetAnnotations({ [revision]: '' }, deployment, 5n), expected)
  })

  it('to roll back to are ignored if they are not numbers', () => {
    const asking = (text: string) =>
      ({
        metadata: { annotations: { 'deprecated.deployment.rollback.to': text } },
      }) as unknown as DeploymentView
    assert.equal(rollbackRevision(asking('9007199254740993')), 9007199254740993n)
    assert.equal(rollbackRevision(asking('+0')), 0n)
    assert.equal(rollbackRevision(asking('last')), undefined)
    assert.equal(rollbackRevision(deployment), undefined)
  })
})

describe('the desired replicas on a ReplicaSet', () => {
  it('are an int32 without a sign', () => {
    const read = (text: string) =>
      annotatedDesiredReplicas({
        metadata: { annotations: { 'deployment.kubernetes.io/desired-replicas': text } },
      } as unknown as ReplicaSetView)
    assert.equal(read('3'), 3)
    assert.equal(read('2147483647'), 2147483647)
    assert.equal(read('2147483648'), undefined)
    assert.equal(read('+3'), undefined)
    assert.equal(read(''), undefined)
  })
})
