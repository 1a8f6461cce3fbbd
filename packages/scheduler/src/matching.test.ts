import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { matchesRequiredAffinity } from './matching.ts'
import type { NodeView } from './node-info.ts'
import { Counts } from './plugins/topology-counts.ts'
import type { PodView } from './pod-view.ts'

describe('label keys that every object has', () => {
  const node = { metadata: { name: 'a', labels: {} } } as unknown as NodeView

  it('are on no node', () => {
    for (const key of ['constructor', 'toString']) {
      const pod = (operator: string) =>
        ({
          spec: {
            affinity: {
              nodeAffinity: {
                requiredDuringSchedulingIgnoredDuringExecution: {
                  nodeSelectorTerms: [{ matchExpressions: [{ key, operator }] }],
                },
              },
            },
          },
        }) as unknown as PodView
      assert.equal(matchesRequiredAffinity(pod('Exists'), node), false)
      assert.equal(matchesRequiredAffinity(pod('DoesNotExist'), node), true)
    }
  })

  it('are no topology', () => {
    const counts = new Counts()
    counts.add('constructor', {}, 1)
    assert.ok(counts.isEmpty)
  })
})
