import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { PodView } from '@coxswain/kinds'
import type { SetView } from './identity.ts'
import { choosePodsToUpdate } from './pods-to-update.ts'

const setOf = (replicas: number, rollingUpdate: object): SetView =>
  ({ metadata: { name: 'web' }, spec: { replicas, updateStrategy: { rollingUpdate } } }) as unknown as SetView

/** `o` an old pod, `n` a new one, in capitals when it is not ready, `-` none. */
function podsOf(picture: string): Map<number, PodView> {
  const pods = new Map<number, PodView>()
  for (const [ordinal, sign] of [...picture].entries()) {
    if (sign === '-') continue
    const revision = sign.toLowerCase() === 'o' ? 'old' : 'new'
    const status = sign === sign.toLowerCase() ? 'True' : 'False'
    pods.set(ordinal, {
      metadata: { name: `web-${ordinal}`, labels: { 'controller-revision-hash': revision } },
      status: { phase: 'Running', conditions: [{ type: 'Ready', status }] },
    } as unknown as PodView)
  }
  return pods
}

const cases: readonly [string, string, object, readonly number[]][] = [
  ['the highest first', 'oooo', {}, [3]],
  ['the next when the one above it is well', 'ooon', {}, [2]],
  ['none while the one above it is not', 'oooN', {}, []],
  ['none while one is missing', 'ooo-', {}, []],
  ['one that is not well itself', 'oooO', {}, [3]],
  ['none below the partition', 'oonn', { partition: 2 }, []],
  ['none when all are new', 'nnnn', {}, []],
  ['two of maxUnavailable 2', 'oooo', { maxUnavailable: 2 }, [3, 2]],
  ['one of maxUnavailable 2 when one is away', 'oo-n', { maxUnavailable: 2 }, [1]],
  ['none of maxUnavailable 2 when two are away', 'oo-N', { maxUnavailable: 2 }, []],
  ['those from the partition on', 'oooo', { maxUnavailable: 3, partition: 2 }, [3, 2]],
  ['a share, rounded down', 'oooo', { maxUnavailable: '70%' }, [3, 2]],
  ['one at least', 'oooo', { maxUnavailable: '10%' }, [3]],
]

describe('Pods of a StatefulSet to update', () => {
  for (const [name, picture, rollingUpdate, expected] of cases)
    it(`are ${name}`, () => {
      const chosen = choosePodsToUpdate(setOf(picture.length, rollingUpdate), podsOf(picture), 'new', 0)
      assert.deepEqual(
        chosen.map(({ ordinal }) => ordinal),
        expected,
      )
    })
})
