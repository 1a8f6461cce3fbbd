import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { findProblems } from '../test-support/find-problems.ts'
import { apiServiceStrategy } from './api-service.ts'
import { bootstrapApiServices } from './bootstrap.ts'

const spec = { group: 'x.example.com', version: 'v1', groupPriorityMinimum: 100, versionPriority: 10 }

describe('apiServiceStrategy', () => {
  it('wants the name to be version and group', () => {
    assert.deepEqual(findProblems(apiServiceStrategy, { metadata: { name: 'v1.x.example.com' }, spec }), [])
    assert.deepEqual(findProblems(apiServiceStrategy, { metadata: { name: 'other' }, spec }), [
      'metadata.name: Invalid value: "other": must be `spec.version+"."+spec.group`: "v1.x.example.com"',
    ])
  })

  it('takes no CA bundle without a service', () => {
    const object = { metadata: { name: 'v1.x.example.com' }, spec: { ...spec, caBundle: 'eHl6' } }
    assert.deepEqual(findProblems(apiServiceStrategy, object), [
      'spec.caBundle: Invalid value: "3 bytes": local APIServices may not have a caBundle',
    ])
  })

  it('agrees with the services of built-in groups', () => {
    for (const object of bootstrapApiServices(0))
      assert.deepEqual(findProblems(apiServiceStrategy, object), [])
  })

  it('prints why a service is not available', () => {
    const conditions = [{ type: 'Available', status: 'False', reason: 'ServiceNotFound' }]
    const service = { namespace: 'default', name: 's' }
    const object = { metadata: { name: 'v1.x' }, spec: { ...spec, service }, status: { conditions } }
    const { Age, ...cells } = apiServiceStrategy.cells?.(object, 0) ?? {}
    assert.equal(Age, '<unknown>')
    assert.deepEqual(cells, { Name: 'v1.x', Service: 'default/s', Available: 'False (ServiceNotFound)' })
  })
})
