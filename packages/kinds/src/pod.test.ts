import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { PodStatus } from '@coxswain/api/core/v1'
import {
  findContainerStatus,
  isPodActive,
  isPodAvailable,
  isPodTerminating,
  longRunningContainers,
  type PodView,
  setPodCondition,
  untilPodAvailable,
} from './pod.ts'

const pod = (status: object, metadata: object = {}): PodView =>
  ({ metadata, spec: { containers: [] }, status }) as unknown as PodView
const readyAt = (time: string, status = 'True') =>
  pod({ conditions: [{ type: 'Ready', status, lastTransitionTime: time }] })
const deleted = { deletionTimestamp: '2026-01-01T00:00:00Z' }

describe('a Pod', () => {
  it('is active until it is terminal or being deleted, and terminating in between', () => {
    assert.equal(isPodActive(pod({ phase: 'Running' })), true)
    assert.equal(isPodActive(pod({ phase: 'Failed' })), false)
    assert.equal(isPodActive(pod({}, deleted)), false)
    assert.equal(isPodTerminating(pod({ phase: 'Running' }, deleted)), true)
    assert.equal(isPodTerminating(pod({ phase: 'Succeeded' }, deleted)), false)
  })

  it('is available when it has been ready for long enough', () => {
    const since = Date.parse('2026-01-01T00:00:00Z')
    const ready = readyAt('2026-01-01T00:00:00Z')
    assert.equal(isPodAvailable(ready, 0, since), true)
    assert.equal(isPodAvailable(ready, 10, since + 9_000), false)
    assert.equal(isPodAvailable(ready, 10, since + 10_000), true)
    assert.equal(untilPodAvailable([ready, readyAt('', 'False')], 10, since + 9_000), 1_000)
    assert.equal(untilPodAvailable([ready], 10, since + 10_000), undefined)
  })

  it('keeps its containers and sidecars running', () => {
    const initContainers = [{ name: 'init' }, { name: 'sidecar', restartPolicy: 'Always' }]
    const spec = { containers: [{ name: 'main' }], initContainers }
    const names = longRunningContainers({ spec } as unknown as PodView).map(({ name }) => name)
    assert.deepEqual(names, ['main', 'sidecar'])
  })

  it('has a status for each container', () => {
    const status = { containerStatuses: [{ name: 'a' }], initContainerStatuses: [{ name: 'b' }] }
    assert.equal(findContainerStatus(pod(status), 'b')?.name, 'b')
    assert.equal(findContainerStatus(pod(status), 'c'), undefined)
  })

  it('gets conditions whose time moves with their status', () => {
    const status: PodStatus = {}
    setPodCondition(status, { type: 'PodScheduled', status: 'False', reason: 'Unschedulable' }, '1')
    setPodCondition(status, { type: 'PodScheduled', status: 'False', reason: 'SchedulingGated' }, '2')
    const condition = { type: 'PodScheduled', status: 'False', lastProbeTime: null, lastTransitionTime: '1' }
    assert.deepEqual(status.conditions, [{ ...condition, reason: 'SchedulingGated' }])
    setPodCondition(status, { type: 'PodScheduled', status: 'True' }, '3')
    assert.deepEqual(status.conditions, [{ ...condition, status: 'True', lastTransitionTime: '3' }])
  })
})
