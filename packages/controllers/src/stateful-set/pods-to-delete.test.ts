import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { PodView } from '@coxswain/kinds'
import type { StatefulSetView } from './identity.ts'
import { choosePodsToDelete } from './pods-to-delete.ts'

const setOf = (replicas: number, rollingUpdate: object): StatefulSetView =>
  ({
    metadata: { name: 'web' },
    spec: { replicas, updateStrategy: { rollingUpdate } },
  }) as unknown as StatefulSetView

/** `o` is an old pod, `n` a new one, upper case if not ready, `-` none. */
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
  ['the next if the one above it is healthy', 'ooon', {}, [2]],
  ['none while the one above it is not', 'oooN', {}, []],
  ['none while one is missing', 'ooo-', {}, []],
  ['one that is unhealthy itself', 'oooO', {}, [3]],
  ['none below the partition', 'oonn', { partition: 2 }, []],
  ['none when all are new', 'nnnn', {}, []],
  ['two of maxUnavailable 2', 'oooo', { maxUnavailable: 2 }, [3, 2]],
  ['one of maxUnavailable 2 if one is missing', 'oo-n', { maxUnavailable: 2 }, [1]],
  ['none of maxUnavailable 2 if two are missing', 'oo-N', { maxUnavailable: 2 }, []],
  ['those from the partition on', 'oooo', { maxUnavailable: 3, partition: 2 }, [3, 2]],
  ['a percentage, rounded down', 'oooo', { maxUnavailable: '70%' }, [3, 2]],
  ['at least one', 'oooo', { maxUnavailable: '10%' }, [3]],
]

describe("Pods that a StatefulSet's rolling update deletes", () => {
  for (const [name, picture, rollingUpdate, expected] of cases)
    it(`are ${name}`, () => {
      const chosen = choosePodsToDelete(setOf(picture.length, rollingUpdate), podsOf(picture), {
        revision: 'new',
        now: 0,
      })
      assert.deepEqual(
        chosen.map(({ ordinal }) => ordinal),
        expected,
      )
    })
})
