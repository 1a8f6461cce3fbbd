import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { JsonObject } from '@coxswain/apimachinery/json'
import { qosClassOf } from './qos.ts'

const classOf = (...resources: JsonObject[]): string =>
  qosClassOf({ spec: { containers: resources.map(item => ({ resources: item })) } })

describe('the class of a pod', () => {
  const full = { requests: { cpu: '1', memory: '1Gi' }, limits: { cpu: '1000m', memory: '1Gi' } }

  it('is BestEffort for a pod that asks for nothing', () => {
    assert.equal(classOf({}), 'BestEffort')
    assert.equal(classOf({ requests: { cpu: '0' } }), 'BestEffort')
    assert.equal(classOf({ requests: { 'a.com/x': '1' } }), 'BestEffort')
  })

  it('is Guaranteed when every container is limited to what it asks for', () => {
    assert.equal(classOf(full), 'Guaranteed')
    assert.equal(classOf(full, full), 'Guaranteed')
  })

  it('is Burstable in between', () => {
    assert.equal(classOf({ requests: { cpu: '1' } }), 'Burstable')
    assert.equal(classOf(full, {}), 'Burstable')
  })

  it('follows from the resources of the pod where it has some', () => {
    assert.equal(qosClassOf({ spec: { resources: full, containers: [{}] } }), 'Guaranteed')
  })
})
