import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { PersistentVolumeClaim } from '@coxswain/api/core/v1'
import type { PodView } from './pod.ts'
import { isPodInQuotaScope } from './quota-scopes.ts'
import { quotaUsageOfClaim, quotaUsageOfPod, quotaUsageOfService } from './quota-usage.ts'
import type { ServiceView } from './service.ts'

const printed = (usage: ReadonlyMap<string, unknown>) =>
  Object.fromEntries([...usage].map(([name, amount]) => [name, String(amount)]))
const pod = (status: object, metadata: object = {}): PodView => {
  const resources = { requests: { cpu: '1', 'a.com/gpu': '2' }, limits: { cpu: '2' } }
  return { metadata, spec: { containers: [{ name: 'c', resources }] }, status } as unknown as PodView
}

describe('what counts against a quota', () => {
  it('is what a Pod requests and is limited to, until it has ended', () => {
    assert.deepEqual(printed(quotaUsageOfPod(pod({}))), {
      'count/pods': '1',
      pods: '1',
      cpu: '1',
      'requests.cpu': '1',
      'limits.cpu': '2',
      'requests.a.com/gpu': '2',
    })
    assert.deepEqual(printed(quotaUsageOfPod(pod({ phase: 'Failed' }))), { 'count/pods': '1' })
    const overdue = pod({}, { deletionTimestamp: '2026-01-01T00:00:00Z', deletionGracePeriodSeconds: 30 })
    const end = Date.parse('2026-01-01T00:00:30Z')
    assert.equal(quotaUsageOfPod(overdue, end).has('pods'), true)
    assert.equal(quotaUsageOfPod(overdue, end + 1).has('pods'), false)
  })

  it('is the node ports that a Service allocates', () => {
    const nodePorts = (spec: object) =>
      String(
        quotaUsageOfService({
          spec: { ports: [{}, { nodePort: 3 }], ...spec },
        } as unknown as ServiceView).get('services.nodeports'),
      )
    assert.equal(nodePorts({ type: 'ClusterIP' }), '0')
    assert.equal(nodePorts({ type: 'NodePort' }), '2')
    assert.equal(nodePorts({ type: 'LoadBalancer' }), '2')
    assert.equal(nodePorts({ type: 'LoadBalancer', allocateLoadBalancerNodePorts: false }), '1')
  })

  it('is the storage that a claim requests or has, by its class too', () => {
    const claim = {
      metadata: {},
      spec: { storageClassName: 'fast', resources: { requests: { storage: '1Gi' } } },
      status: { allocatedResources: { storage: '2Gi' } },
    } as unknown as PersistentVolumeClaim
    const usage = printed(quotaUsageOfClaim(claim))
    assert.equal(usage['requests.storage'], '2Gi')
    assert.equal(usage['fast.storageclass.storage.k8s.io/requests.storage'], '2Gi')
  })

  it('may be limited to a scope', () => {
    const exists = (scopeName: string) => ({ scopeName, operator: 'Exists' })
    assert.equal(isPodInQuotaScope(pod({}), exists('BestEffort')), false)
    assert.equal(isPodInQuotaScope(pod({}), exists('NotBestEffort')), true)
    assert.equal(isPodInQuotaScope(pod({}), exists('Terminating')), false)
    assert.equal(isPodInQuotaScope(pod({}), exists('PriorityClass')), false)
  })
})
