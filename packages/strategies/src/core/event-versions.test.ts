import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Event } from '@coxswain/api/events/v1'
import type { Decoded } from '../decoded.ts'
import { convertEvent } from './event-versions.ts'

describe('convertEvent', () => {
  it('says the same in the words of both groups', () => {
    const core = {
      kind: 'Event',
      apiVersion: 'v1',
      metadata: { name: 'e', namespace: 'n' },
      involvedObject: { kind: 'Pod', name: 'p' },
      reason: 'Pulled',
      message: 'image pulled',
      source: { component: 'kubelet' },
      firstTimestamp: '2024-01-02T03:04:05Z',
      lastTimestamp: '2024-01-02T03:05:05Z',
      count: 3,
      type: 'Normal',
      eventTime: null,
      reportingComponent: 'kubelet',
      reportingInstance: 'n1',
    }
    const newer = convertEvent(core, 'events.k8s.io/v1') as Decoded<Event>
    assert.equal(newer.note, 'image pulled')
    assert.deepEqual(newer.regarding, { kind: 'Pod', name: 'p' })
    assert.equal(newer.deprecatedCount, 3)
    assert.equal(newer.reportingController, 'kubelet')
    assert.deepEqual(convertEvent(newer, 'v1'), core)
  })

  it('leaves an event alone that is of the version already', () => {
    const event = { apiVersion: 'v1', metadata: {} }
    assert.equal(convertEvent(event, 'v1'), event)
  })
})
