import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { parseQuantity } from '@coxswain/apimachinery/quantity'
import type { PodView } from './pod.ts'
import { podLimits, podRequests } from './pod-resources.ts'

const pod = (spec: object, status: object = {}): PodView =>
  ({ metadata: {}, spec: { containers: [], ...spec }, status }) as unknown as PodView
const container = (cpu: string, more: object = {}) => ({
  name: 'c',
  resources: { requests: { cpu }, limits: { cpu } },
  ...more,
})
const sidecar = container('300m', { name: 's', restartPolicy: 'Always' })

describe('what a Pod requests', () => {
  const cpu = (spec: object) => String(podRequests(pod(spec)).get('cpu'))

  it('is the sum of its containers, or what it takes to start them', () => {
    assert.equal(cpu({ containers: [container('1'), container('500m')] }), '1500m')
    assert.equal(cpu({ containers: [container('1')], initContainers: [container('2')] }), '2')
    assert.equal(cpu({ containers: [container('1')], initContainers: [sidecar, container('1')] }), '1300m')
    assert.equal(cpu({ containers: [container('1')], initContainers: [container('1'), sidecar] }), '1300m')
  })

  it('is what the Pod requests as a whole, and its overhead', () => {
    const spec = { containers: [container('1')], overhead: { cpu: '10m' } }
    assert.equal(cpu(spec), '1010m')
    const whole = { ...spec, resources: { requests: { cpu: '4', 'ephemeral-storage': '1Gi' } } }
    assert.equal(cpu(whole), '4010m')
    assert.equal(podRequests(pod(whole)).has('ephemeral-storage'), false)
    assert.equal(String(podRequests(pod(whole), { excludeOverhead: true }).get('cpu')), '4')
    assert.equal(String(podRequests(pod(whole), { excludePodLevel: true }).get('cpu')), '1010m')
  })

  it('counts something for containers that request nothing, if asked to', () => {
    const missing = new Map([['cpu', parseQuantity('100m')]])
    const amounts = podRequests(pod({ containers: [container('1'), { name: 'd' }] }), { missing })
    assert.equal(String(amounts.get('cpu')), '1100m')
  })

  it('is the most that it may have while it is being resized', () => {
    const resized = (status: object) =>
      String(
        podRequests(pod({ containers: [container('2')], initContainers: [sidecar] }, status), {
          useStatus: true,
        }).get('cpu'),
      )
    const containerStatuses = [
      { name: 'c', allocatedResources: { cpu: '1' }, resources: { requests: { cpu: '1500m' } } },
    ]
    const conditions = [{ type: 'PodResizePending', status: 'True', reason: 'Infeasible' }]
    assert.equal(resized({}), '2300m')
    assert.equal(resized({ containerStatuses }), '2300m')
    assert.equal(resized({ containerStatuses, conditions }), '1800m')
  })
})

describe('what a Pod is limited to', () => {
  it('includes the overhead only where there is a limit', () => {
    const limits = podLimits(pod({ containers: [container('1')], overhead: { cpu: '10m', memory: '1Mi' } }))
    assert.deepEqual([...limits].map(String), ['cpu,1010m'])
  })
})
