import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { JsonObject } from '@coxswain/apimachinery/json'
import { findProblems } from '../test-support/find-problems.ts'
import { deviceClassStrategy } from './device-class.ts'
import { resourceClaimStrategy } from './resource-claim.ts'
import { resourceSliceStrategy } from './resource-slice.ts'

const metadata = { name: 'a', namespace: 'ns' }
const claim = (devices: JsonObject): JsonObject => ({ metadata, spec: { devices } })

describe('resource claims', () => {
  it('ask for one device when they do not say how many', () => {
    const exactly: JsonObject = { deviceClassName: 'gpu.example.com' }
    assert.deepEqual(findProblems(resourceClaimStrategy, claim({ requests: [{ name: 'gpu', exactly }] })), [])
    assert.deepEqual(exactly, { deviceClassName: 'gpu.example.com', allocationMode: 'ExactCount', count: 1 })
  })

  it('refer to their own requests', () => {
    const requests = [{ name: 'any', firstAvailable: [{ name: 'big', deviceClassName: 'b.example.com' }] }]
    const constraint = (...names: string[]) => ({ requests: names, matchAttribute: 'x.example.com/numa' })
    const constraints = [constraint('any', 'any/big'), constraint('any/small')]
    assert.deepEqual(findProblems(resourceClaimStrategy, claim({ requests, constraints })), [
      `spec.devices.constraints[1].requests[0]: Invalid value: "any/small": must be the name of a request in the claim or the name of a request and a subrequest separated by '/'`,
    ])
  })

  it('do not change once they are made', () => {
    const old = claim({ requests: [{ name: 'a', exactly: { deviceClassName: 'x.example.com' } }] })
    resourceClaimStrategy.default?.(old)
    assert.deepEqual(findProblems(resourceClaimStrategy, structuredClone(old), old), [])
    const [problem = ''] = findProblems(resourceClaimStrategy, claim({}), old)
    assert.match(problem, /^spec: Invalid value: \{"Devices":\{"Requests":null,.*field is immutable$/)
  })

  it('lose the status of devices that they no longer have', () => {
    const device = { driver: 'd', pool: 'p', device: 'x' }
    const old = { metadata, status: { allocation: { devices: { results: [device] } }, devices: [device] } }
    const object = { metadata: { ...metadata }, status: { devices: [device] } }
    resourceClaimStrategy.prepareForStatusUpdate?.(object, old, {} as never)
    assert.deepEqual(object.status, {})
  })
})

describe('device classes', () => {
  it('give drivers objects for parameters', () => {
    const config = [{ opaque: { driver: 'x.example.com', parameters: ['a'] } }]
    assert.deepEqual(findProblems(deviceClassStrategy, { metadata, spec: { config } }), [
      'spec.config[0].opaque.parameters: Invalid value: "<value omitted>": must be a valid JSON object',
    ])
  })
})

describe('resource slices', () => {
  const pool = { name: 'p', resourceSliceCount: 1 }
  const slice = (members: JsonObject): JsonObject => ({
    metadata,
    spec: { driver: 'x.example.com', pool, allNodes: true, ...members },
  })

  it('are on nodes in exactly one way', () => {
    assert.deepEqual(findProblems(resourceSliceStrategy, slice({ nodeName: 'n' })), [
      'spec: Invalid value: "{`nodeName`, `allNodes`}": exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required, but multiple fields are set',
    ])
  })

  it('have attributes with one value, and versions that can be compared', () => {
    const attributes = { a: { int: 1, bool: true }, b: { version: '1.2' }, c: { string: '' } }
    const found = findProblems(resourceSliceStrategy, slice({ devices: [{ name: 'd', attributes }] }))
    assert.deepEqual(found, [
      'spec.devices[0].attributes[a]: Invalid value: {"IntValue":1,"BoolValue":true,"StringValue":null,"VersionValue":null,"IntValues":null,"BoolValues":null,"StringValues":null,"VersionValues":null}: exactly one value must be specified',
      'spec.devices[0].attributes[b].version: Invalid value: "1.2": must be a string compatible with semver.org spec 2.0.0',
    ])
  })

  it('let requests take a multiple of a step, from the least on', () => {
    const validRange = { min: '1Gi', max: '8Gi', step: '2Gi' }
    const capacity = { memory: { value: '16Gi', requestPolicy: { default: '3Gi', validRange } } }
    const device = { name: 'd', allowMultipleAllocations: true, capacity }
    assert.deepEqual(findProblems(resourceSliceStrategy, slice({ devices: [device] })), [
      'spec.devices[0].capacity[memory].requestPolicy.validRange.step: Invalid value: "8Gi": value is not a multiple of a given step (2Gi) from (1Gi)',
    ])
  })

  it('stay with their driver and pool', () => {
    const changed = slice({ driver: 'y.example.com' })
    assert.deepEqual(findProblems(resourceSliceStrategy, changed, slice({})), [
      'spec.driver: Invalid value: "y.example.com": field is immutable',
    ])
  })
})
