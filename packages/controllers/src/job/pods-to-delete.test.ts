import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { PodView } from '@coxswain/kinds'
import type { JobView } from './job-pods.ts'
import { choosePodsToDelete } from './pods-to-delete.ts'

interface Traits {
  readonly node?: string
  readonly phase?: string
  readonly ready?: string
  readonly created?: string
  readonly index?: number
}

const podOf = (name: string, { node = 'n', phase = 'Running', ready, created = '00:00', index }: Traits) =>
  ({
    metadata: {
      name,
      uid: name,
      creationTimestamp: `2026-01-01T${created}:00Z`,
      ...(index !== undefined && {
        annotations: { 'batch.kubernetes.io/job-completion-index': String(index) },
      }),
    },
    spec: { nodeName: node },
    status: {
      phase,
      ...(ready && {
        conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: `2026-01-01T${ready}:00Z` }],
      }),
    },
  }) as unknown as PodView

const namesOf = (pods: readonly PodView[]) => pods.map(({ metadata }) => metadata.name)

describe('surplus pods of a job', () => {
  it('are those with the least progress', () => {
    const pods = [
      podOf('oldest-ready', { ready: '01:00' }),
      podOf('ready', { ready: '02:00' }),
      podOf('old', { created: '01:00' }),
      podOf('young', { created: '02:00' }),
      podOf('pending', { phase: 'Pending' }),
      podOf('unscheduled', { phase: 'Pending', node: '' }),
    ]
    const job = { spec: {} } as JobView
    assert.deepEqual(namesOf(choosePodsToDelete(job, pods, 6)), [
      'unscheduled',
      'pending',
      'young',
      'old',
      'ready',
      'oldest-ready',
    ])
    assert.deepEqual(namesOf(choosePodsToDelete(job, pods, 1)), ['unscheduled'])
    assert.deepEqual(choosePodsToDelete(job, pods, 0), [])
  })

  it('are those whose index is taken, out of range or missing', () => {
    const job = { spec: { completionMode: 'Indexed', completions: 2 } } as unknown as JobView
    const pods = [
      podOf('worse', { index: 0 }),
      podOf('better', { index: 0, ready: '01:00' }),
      podOf('one', { index: 1 }),
      podOf('beyond', { index: 2 }),
      podOf('none', {}),
    ]
    assert.deepEqual(namesOf(choosePodsToDelete(job, pods, 0)).sort(), ['beyond', 'none', 'worse'])
    assert.deepEqual(namesOf(choosePodsToDelete(job, pods, 4)).sort(), ['beyond', 'none', 'one', 'worse'])
  })
})
