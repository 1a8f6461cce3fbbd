import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { conditions } from './index.ts'

describe('conditions', () => {
  it('hold for status conditions that are True, and not for an absent object', () => {
    const isReady = conditions.hasCondition('Ready')
    const withStatus = (status: string) => ({
      metadata: {},
      status: { conditions: [{ type: 'Ready', status }] },
    })
    assert.equal(isReady(withStatus('True')), true)
    assert.equal(isReady(withStatus('Unknown')), false)
    assert.equal(isReady({ metadata: {} }), false)
    assert.equal(isReady(undefined), false)
    assert.equal(conditions.isPodReady(withStatus('True')), true)
    assert.equal(conditions.isJobComplete(withStatus('True')), false)
  })

  it('know a deleted object from one that was created again', () => {
    const isDeleted = conditions.isDeleted('1')
    assert.deepEqual([undefined, { metadata: { uid: '2' } }, { metadata: { uid: '1' } }].map(isDeleted), [
      true,
      true,
      false,
    ])
  })

  it('know a load balancer with addresses', () => {
    const withIngress = (...ingress: { ip?: string; hostname?: string }[]) => ({
      status: { loadBalancer: { ingress } },
    })
    assert.equal(
      conditions.isServiceProvisioned(withIngress({ ip: '10.0.0.1' }, { hostname: 'a.example' })),
      true,
    )
    assert.equal(conditions.isIngressProvisioned(withIngress({ ip: '10.0.0.1' }, {})), false)
    assert.equal(conditions.isIngressProvisioned(withIngress()), false)
  })

  it('know a Deployment that is rolled out from every step on its way there', () => {
    const base = {
      metadata: { name: 'web', generation: 2 },
      spec: { replicas: 3 },
      status: { observedGeneration: 2, replicas: 3, updatedReplicas: 3, availableReplicas: 3 },
    }
    assert.equal(conditions.isDeploymentRolledOut(base), true)
    const steps = [
      { observedGeneration: 1 },
      { updatedReplicas: 2 },
      { replicas: 4 },
      { availableReplicas: 2 },
    ]
    for (const step of steps)
      assert.equal(
        conditions.isDeploymentRolledOut({ ...base, status: { ...base.status, ...step } }),
        false,
        JSON.stringify(step),
      )
    assert.equal(conditions.isDeploymentRolledOut({ metadata: { generation: 1 } }), false)
    assert.equal(conditions.isDeploymentRolledOut(undefined), false)
  })
})
